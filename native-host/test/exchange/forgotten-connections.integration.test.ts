/** HTTP/3 connections that their server gives up in the moment of their use. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { Exchange, ExchangeError, ExchangeRequest } from '../../src/exchange/exchange.ts';
import { HostileHttp3Origin, SOUND_OPENING, type Step } from '../conformance/support/hostile-http3-origin.ts';
import { fieldSection, STATUS_200 } from '../conformance/support/http3-frames.ts';
import { FaultyLink } from '../faults/faulty-link.ts';
import { Patience } from '../faults/patience.ts';
import { engineTrusting, serveEngine } from '../support/engine.ts';
import { bundle, type Server } from '../support/server.ts';

/** The key of servers that take one another's place. */
const RESET_KEY = ['-stateless-reset-key', 'shared'];
/** From a request to the first packet of another connection. A forgotten connection would take until its idle timeout, 30 s. */
const MOVED_WITHIN_MS = 1_000;
/** Time until its answer, and as much again for a busy machine. */
const LIMIT_MS = 2_000;
const IDLE_TIMEOUT_MS = 1_000;

const served = serveEngine();
let server: Server;
let link: FaultyLink;
let engine: Engine;

async function start(...flags: string[]): Promise<void> {
  server = await served.program.start(...flags);
  link = await FaultyLink.open(server.port);
  engine = await engineTrusting(server);
}

afterEach(async () => {
  await engine.close();
  await link.close();
  await server.stop();
});

function ask(path: string, more: Partial<ExchangeRequest> = {}): Exchange {
  const url = `${link.origin}${path}`;
  return engine.exchange({ protocol: 'h3', method: 'GET', url, headers: [], body: null, ...more });
}

/** @returns the number of milliseconds that a GET takes, repeated once after a reset as `Relay` does */
async function timeGet(): Promise<number> {
  const begin = performance.now();
  const get = (): Promise<Buffer> => buffer(ask('/bytes/10').body);
  const body = await get().catch((fault: ExchangeError) => {
    expect(fault.code).toBe('reset');
    return get();
  });
  expect(body).toHaveLength(10);
  return performance.now() - begin;
}

/** @returns the number of milliseconds until another connection is begun, but for waits for a processor */
async function timeMove(gets: number): Promise<number> {
  const processes = [process.pid, (await engine.pid())!];
  const patience = new Patience(() => processes);
  const moved = link.nextFlow();
  const begin = performance.now();
  const answers = Promise.all(Array.from({ length: gets }, timeGet));
  await moved;
  const moveMs = performance.now() - begin - patience.waitedMs();
  await answers;
  return moveMs;
}

describe('by a server that drops what comes on it', () => {
  beforeEach(async () => {
    await start();
    await timeGet();
  });

  it('a GET moves on to another one within a second', async () => {
    link.forget();
    expect(await timeMove(1)).toBeLessThan(MOVED_WITHIN_MS);
    expect(await server.seen(2)).toHaveLength(2);
  });

  it('100 GETs move on to another one within a second', async () => {
    link.forget();
    expect(await timeMove(100)).toBeLessThan(MOVED_WITHIN_MS);
  });

  it('a POST is not sent a second time', async () => {
    await server.seen();
    link.forget();
    const post = ask('/bytes/20', { method: 'POST' });
    await timeGet();
    expect((await server.seen(1)).map(({ method }) => method)).toEqual(['GET']);
    expect(post.sent).toBe(true);
    post.cancel();
  });
});

describe('by a server that is replaced', () => {
  let successor: Server;

  afterEach(() => successor.stop());

  it('a GET is answered on another one after a stateless reset', async () => {
    await start(...RESET_KEY);
    successor = await served.program.start(...RESET_KEY);
    const caFile = join(served.program.folder, 'both.pem');
    writeFileSync(caFile, bundle([server, successor]));
    await engine.close();
    engine = await engineTrusting({ caFile });
    await timeGet();
    // Packets on the former's connection are unknown to its successor.
    link.moveTo(successor.port);
    expect(await timeGet()).toBeLessThan(LIMIT_MS);
  });
});

it('by a server that closes it: a GET is answered on another one', async () => {
  await start('-raw-http3');
  const origin = new HostileHttp3Origin(server);
  const answer: Step[] = [{ bytes: fieldSection(STATUS_200), after: 'fin' }];
  await origin.show({ answer });
  expect((await ask('/').head).status).toBe(200);
  // Another opening ends the connections that are there.
  await origin.show({ opening: [...SOUND_OPENING], answer });
  const begin = performance.now();
  expect((await ask('/').head).status).toBe(200);
  expect(performance.now() - begin).toBeLessThan(LIMIT_MS);
});

describe('by a server whose idle timeout passes', () => {
  it('a GET in that moment is soon answered', async () => {
    await start('-idle-timeout', `${IDLE_TIMEOUT_MS}ms`);
    await timeGet();
    for (const beforeMs of [20, 10, 5, 0, -5]) {
      await sleep(IDLE_TIMEOUT_MS - beforeMs);
      expect(await timeGet()).toBeLessThan(LIMIT_MS);
    }
  });
});

it('a slow answer is awaited on its connection', async () => {
  await start();
  await timeGet();
  await server.seen();
  expect(await buffer(ask('/bytes/10?delay=1500').body)).toHaveLength(10);
  expect(await server.seen(1)).toHaveLength(1);
});

it('a body that pauses for longer than its server keeps an idle connection arrives whole', async () => {
  await start('-idle-timeout', `${IDLE_TIMEOUT_MS}ms`);
  expect((await buffer(ask(`/pause/${3 * IDLE_TIMEOUT_MS}`).body)).toString()).toBe('ab');
});
