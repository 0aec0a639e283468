import { expect, it } from 'vitest';
import { ConnectionJoin, type ServedConnection } from '../../src/connections/connection-join.ts';
import { makeRequest, makeSocket } from '../support/sockets.ts';

function makeJoin() {
  const connections: ServedConnection[] = [];
  return { join: new ConnectionJoin((connection) => connections.push(connection)), connections };
}

it('joins the log with the kernel, whichever comes first', () => {
  const { join, connections } = makeJoin();
  join.noteRequest(makeRequest({ port: 1, connectedMs: 500 }));
  join.noteEnd(makeSocket({ port: 1 }));
  join.noteEnd(makeSocket({ port: 2 }));
  join.noteRequest(makeRequest({ port: 2, connectedMs: 700 }));
  expect(connections.map(({ connectedMs, socket }) => [socket.port, connectedMs])).toEqual([
    [1, 500],
    [2, 700],
  ]);
});

it('counts a connection that pauses once, and not again at its end', () => {
  const { join, connections } = makeJoin();
  join.noteRequest(makeRequest({ port: 1, connectedMs: 300 }));
  join.noteOpen([makeSocket({ port: 1, isIdle: false })]);
  expect(connections).toHaveLength(0);
  join.noteOpen([makeSocket({ port: 1, isIdle: true })]);
  // A second request of it, a rounding error later.
  join.noteRequest(makeRequest({ port: 1, connectedMs: 301 }));
  join.noteOpen([makeSocket({ port: 1, isIdle: true })]);
  join.noteEnd(makeSocket({ port: 1 }));
  expect(connections.map(({ connectedMs }) => connectedMs)).toEqual([300]);
});

it('makes nothing of addresses in the log to which the kernel has no connection', () => {
  const { join, connections } = makeJoin();
  for (let port = 1; port <= 50_000; port++) join.noteRequest(makeRequest({ port, address: '198.51.100.1' }));
  join.noteEnd(makeSocket({ port: 1 }));
  expect(connections).toEqual([]);
});
