/** Browsers that vanish, ones that are only silent, and ones that go on when their pin has ended. */
import { mkdtempSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Server, ServerProgram } from '../../support/server.ts';
import { until } from '../proxy/support/peers.ts';
import { ask2, Pinned } from './support/pinned.ts';

/** In place of 30 s. */
const PING_EVERY_MS = 300;
/** In place of two minutes. */
const ENDING_TIMEOUT_MS = 1_500;
const BROWSERS = 150;

const folder = mkdtempSync(join(tmpdir(), 'hopwise-lost-'));
const program = new ServerProgram();
let server: Server;
let pinned: Pinned;

beforeAll(async () => {
  server = await program.start();
  pinned = await Pinned.start(folder, [server.caFile], {
    pingEveryMs: PING_EVERY_MS,
    endingTimeoutMs: ENDING_TIMEOUT_MS,
  });
});

afterAll(async () => {
  await pinned.stop(folder);
  await server.stop();
  program.remove();
});

/** Asks for something over HTTP/2 and is gone some milliseconds later. */
async function goSoon(afterMs: number): Promise<void> {
  const tunnel = await pinned.tunnel(server.port);
  const socket = connect({
    socket: tunnel,
    servername: 'localhost',
    ca: pinned.roots,
    ALPNProtocols: ['h2'],
  });
  for (const each of [tunnel, socket]) each.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const session = connectHttp2(server.url(''), { createConnection: () => socket });
  session.on('error', () => {});
  session
    .request({ ':path': '/bytes/100000' })
    .on('error', () => {})
    .resume();
  await (afterMs === 0 ? setImmediate() : setTimeout(afterMs));
  tunnel.resetAndDestroy();
}

it('ends what a lost browser leaves behind, and nothing of one that waits', async () => {
  await pinned.pin(server.port, 'h2');
  const session = await pinned.http2(server.port);
  const waiting = session.request({ ':path': '/silent' });
  await new Promise((resolve) => waiting.once('response', resolve));
  for (let browser = 0; browser < BROWSERS; browser += 1) await goSoon((browser % 10) / 2);
  await expect.poll(() => pinned.terminating.open, { timeout: 20 * PING_EVERY_MS }).toBe(1);
  await setTimeout(5 * PING_EVERY_MS);
  expect(pinned.proxy.open).toBe(1);
  expect(waiting.closed).toBe(false);
  expect(await ask2(session, { ':path': '/bytes/10' })).toMatchObject({ status: 200 });
  session.destroy();
});

/** A browser whose request never ends. */
async function wait(): Promise<ClientHttp2Session> {
  await pinned.pin(server.port, 'h2');
  const session = await pinned.http2(server.port);
  const waiting = session.request({ ':path': '/silent' }).on('error', () => {});
  await new Promise((resolve) => waiting.once('response', resolve));
  return session;
}

it('cuts what goes on for longer than its time after the end of its pin', async () => {
  const session = await wait();
  const begin = performance.now();
  pinned.terminating.unpin('localhost', server.port);
  await until(() => pinned.proxy.open === 0);
  expect(performance.now() - begin).toBeGreaterThan(ENDING_TIMEOUT_MS - 50);
  expect(pinned.terminating.open).toBe(0);
  session.destroy();
});

it('cuts what goes on at once when a pin follows that may not lead there', async () => {
  const session = await wait();
  pinned.terminating.pin('localhost', server.port, 'h2', 'public');
  expect(pinned.terminating.open).toBe(1);
  await until(() => pinned.proxy.open === 0, ENDING_TIMEOUT_MS / 2);
  await until(() => pinned.lifted.length > 0);
  expect(pinned.lifted).toMatchObject([
    { port: server.port, reason: expect.stringContaining('loopback address') },
  ]);
  session.destroy();
});
