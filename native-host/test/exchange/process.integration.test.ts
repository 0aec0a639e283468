/** The engine's process, whose exchanges end with it. */
import { fork } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PROTOCOLS } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { type ChildMessage, EXCHANGE_PIPE } from '../../src/engine/ipc.ts';
import { serveEngine } from '../support/engine.ts';
import { LocalEngine } from '../support/local-engine.ts';
import { failure } from './support/exchanges.ts';

const served = serveEngine();

it('ends on invalid frames, and says why', async () => {
  const info = await served.engine.start();
  const child = fork(fileURLToPath(new URL('../../src/engine/child.ts', import.meta.url)), [info.path, ''], {
    execArgv: ['--conditions=source'],
    env: { ...process.env, LD_LIBRARY_PATH: isAbsolute(info.path) ? dirname(info.path) : '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe', 'pipe'],
  });
  const messages: ChildMessage[] = [];
  child.on('message', (message: ChildMessage) => messages.push(message));
  await expect.poll(() => messages.map(({ type }) => type)).toEqual(['ready']);
  const pipes: readonly unknown[] = child.stdio;
  (pipes[EXCHANGE_PIPE] as Writable).on('error', () => {}).write(Buffer.alloc(100, 0xff));
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
  expect(messages[1]).toEqual({ type: 'fault', problem: 'a frame of kind 255' });
});

it('may die in mid-body: what was sent is known, the next exchange gets a new process', async () => {
  const own = new LocalEngine();
  await own.start();
  const pid = (await own.pid())!;
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const nowhere = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const request = { method: 'GET', headers: [], body: null };
  const sent = PROTOCOLS.map((protocol) =>
    own.exchange({ ...request, protocol, url: served.server.url('/silent') }),
  );
  for (const exchange of sent) await exchange.head;
  const unsent = own.exchange({ ...request, protocol: 'h2', url: nowhere });
  const fresh = own.exchange({ ...request, protocol: 'h2', url: served.server.url('/silent') });
  await served.server.seen(4);
  process.kill(pid, 'SIGKILL');
  for (const exchange of [...sent, fresh]) {
    expect(await failure(exchange)).toMatchObject({ code: 'engine-died', sent: true });
  }
  expect(await failure(unsent)).toMatchObject({ code: 'engine-died', sent: false });
  const next = own.exchange({ ...request, protocol: 'h2', url: served.server.url('/bytes/10') });
  expect(await buffer(next.body)).toHaveLength(10);
  expect(await own.pid()).not.toBe(pid);
  await own.close();
  silent.close();
});

it('that does not respond is replaced', async () => {
  const own = new LocalEngine({ stuckAfterMs: 900 });
  await own.start();
  const pid = (await own.pid())!;
  const request = { protocol: 'h2', method: 'GET', headers: [], body: null } as const;
  const stuck = own.exchange({ ...request, url: served.server.url('/silent') });
  await stuck.head;
  process.kill(pid, 'SIGSTOP');
  expect(await failure(stuck)).toMatchObject({ code: 'engine-died', sent: true });
  const next = own.exchange({ ...request, url: served.server.url('/bytes/10') });
  expect(await buffer(next.body)).toHaveLength(10);
  expect(await own.pid()).not.toBe(pid);
  await own.close();
});

it('that has ended fails its exchanges', async () => {
  const own = new LocalEngine();
  const open = own.exchange({
    protocol: 'h2',
    method: 'GET',
    url: served.server.url('/silent'),
    headers: [],
    body: null,
  });
  await open.head;
  await own.close();
  expect(await failure(open)).toMatchObject({ code: 'engine-died', sent: true });
  const late = own.exchange({
    protocol: 'h2',
    method: 'GET',
    url: served.server.url('/'),
    headers: [],
    body: null,
  });
  expect(await failure(late)).toMatchObject({ code: 'engine-died', sent: false });
});

it('sends nothing of an exchange that was cancelled before it began', async () => {
  const own = new LocalEngine();
  const early = own.exchange({
    protocol: 'h1',
    method: 'GET',
    url: served.server.url('/bytes/10'),
    headers: [],
    body: null,
  });
  early.cancel();
  expect(await failure(early)).toMatchObject({ sent: false });
  await own.start();
  expect(await served.server.seen()).toEqual([]);
  await own.close();
});
