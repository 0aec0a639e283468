import { buildGraph, emulate, PROTOCOLS, parseRecording, predict } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../support/hars.ts';
import { pathOf, uniform } from '../support/pages.ts';

const PAGE = 'https://a.test/';
const CDN = 'https://cdn.test';
const HANDSHAKE = { connect: 100, ssl: 50 };

const documentOf = (timings: object) =>
  chromiumEntry(PAGE, 0, { wait: 50, receive: 5, ...timings }, { _connectionId: '1' });
const fileOf = (url: string, timings: object, connection: string) =>
  chromiumEntry(
    url,
    200,
    { wait: 40, receive: 5, ...timings },
    { _connectionId: connection, _resourceType: 'image' },
  );

/** The connections that were open, of a page with a file. */
function openOf(file: object, document = documentOf(HANDSHAKE)) {
  const graph = buildGraph(parseRecording(harOf([document, file])));
  return graph.openConnections?.map(({ origin, pool }) => ({ origin: graph.origins[origin], pool }));
}

it('a connection whose first request left at once was open', () => {
  expect(openOf(fileOf(`${CDN}/x.png`, {}, '2'))).toEqual([{ origin: CDN, pool: 0 }]);
});

it('one whose handshake is recorded, or may have been waited for, was not', () => {
  expect(openOf(fileOf(`${CDN}/x.png`, HANDSHAKE, '2'))).toBeUndefined();
  expect(openOf(fileOf(`${CDN}/x.png`, { dns: 10 }, '2'))).toBeUndefined();
  expect(openOf(fileOf(`${CDN}/x.png`, { blocked: 60 }, '2'))).toBeUndefined();
});

it('one that another origin’s requests may have opened is left to them', () => {
  expect(openOf(fileOf(`${CDN}/x.png`, {}, '1'))).toBeUndefined();
});

it('a page that is reloaded waits for no handshake, and its waits are single round trips', () => {
  const recording = parseRecording(harOf([documentOf({}), fileOf(`${CDN}/x.png`, {}, '2')]));
  const graph = buildGraph(recording);
  expect(graph.openConnections).toHaveLength(2);
  expect(predict(recording).network).toMatchObject({ rttMs: 40, source: { rttMs: 'estimated' } });
  const path = pathOf({ rttMs: 40, downBps: 1e9, upBps: 1e9 });
  for (const protocol of PROTOCOLS) {
    const { entries } = emulate(graph, path, [], uniform(graph, protocol), { waterfall: true });
    // The browser's own time for a request.
    for (const { startMs, sentMs } of entries) expect(sentMs - startMs).toBeLessThan(5);
  }
});

it('nothing is known of the connections of a recorder that writes none', () => {
  const document = chromiumEntry(PAGE, 0, { wait: 50, receive: 5 });
  const file = chromiumEntry(`${CDN}/x.png`, 200, { wait: 40, receive: 5 }, { _resourceType: 'image' });
  const recording = parseRecording(harOf([document, file]));
  expect(buildGraph(recording).openConnections).toBeUndefined();
  // The first waits are taken for handshakes and a round trip.
  expect(predict(recording).network.rttMs).toBeLessThan(20);
});

it('one that says that it writes them shows that a reload’s were open', () => {
  const document = chromiumEntry(PAGE, 0, { wait: 50, receive: 5 });
  const file = chromiumEntry(`${CDN}/x.png`, 200, { wait: 40, receive: 5 }, { _resourceType: 'image' });
  const recording = { ...parseRecording(harOf([document, file])), showsConnections: true };
  const again = parseRecording(JSON.stringify(recording));
  expect(again.showsConnections).toBe(true);
  expect(buildGraph(again).openConnections).toHaveLength(2);
  expect(predict(again).network.rttMs).toBe(40);
});
