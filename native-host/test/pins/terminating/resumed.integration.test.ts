/** Responses over HTTP/3 whose path begins to drop UDP in mid-body: the rest comes over TCP, or nothing more does. */
import { type ClientHttp2Session, constants } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FaultyLink } from '../../faults/faulty-link.ts';
import { PROTO, type Server } from '../../support/server.ts';
import { until } from '../proxy/support/peers.ts';
import { type Answer, answer2, ask1, ask2, type Pinned } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

const FILE_BYTES = 4_000_000;
/** The bytes of one response after which UDP is dropped. */
const FIRST_BYTES = 400_000;
/** A second, the silence of a path of unknown length, and as much again for a busy machine. QUIC itself takes 30 s. */
const WITHIN_MS = 10_000;
/** More than twice what a dead path is noticed in. */
const STEADY_MS = 4_000;
const FAILED = { rstCode: constants.NGHTTP2_CANCEL };

let served: ServedPins;
let server: Server;
let pinned: Pinned;
let file: Buffer;
let link: FaultyLink;
let session: ClientHttp2Session;

beforeAll(async () => {
  served = await servePins();
  ({ server, pinned } = served);
  await pinned.pin(server.port, 'h2');
  session = await pinned.http2(server.port);
  file = (await ask2(session, { ':path': `/file/${FILE_BYTES}` })).body;
  session.destroy();
  expect(file).toHaveLength(FILE_BYTES);
});

afterAll(() => served.stop());

beforeEach(async () => {
  pinned.fallbacks = 0;
  pinned.lifted.length = 0;
  link = await FaultyLink.open(server.port);
  pinned.connectTo = `localhost:${server.port}:localhost:${link.port}`;
});

afterEach(async () => {
  session?.destroy();
  pinned.terminating.close();
  pinned.connectTo = undefined;
  await link.close();
  await server.seen();
});

async function pin(kind: 'h3' | 'auto'): Promise<void> {
  await pinned.pin(server.port, kind);
  session = await pinned.http2(server.port);
  if (kind === 'auto') expect(await pinned.terminating.steer('localhost', server.port, 'h3')).toBe('');
  await server.seen();
}

/** Asks for the file, and has UDP dropped once a part of it has come. */
async function askAndDrop(query: string, kind: 'h3' | 'auto' = 'auto'): Promise<Answer> {
  await pin(kind);
  const begun = link.passed('down', FIRST_BYTES);
  const answer = ask2(session, { ':path': `/file/${FILE_BYTES}?${query}` });
  answer.catch(() => {});
  await begun;
  link.packetLoss = 1;
  return answer;
}

/** The requests for files, once there are two: the first is for the whole, the second for the rest. */
async function listAsked(): Promise<{ proto: string; range: string; ifRange: string }[]> {
  const files = await server.seen(2, (path) => path.startsWith('/file'));
  return files.map(({ proto, range, ifRange }) => ({ proto, range, ifRange }));
}

describe('goes on over TCP', () => {
  it.each(['h3', 'auto'] as const)('under a pin to %s, and QUIC is left alone', async (kind) => {
    const began = performance.now();
    const { status, body, headers } = await askAndDrop('tag=a', kind);
    expect(performance.now() - began).toBeLessThan(WITHIN_MS);
    expect(status).toBe(200);
    expect(headers).toContainEqual(['content-length', String(FILE_BYTES)]);
    expect(body.equals(file)).toBe(true);
    const [whole, rest, ...more] = await listAsked();
    expect(whole).toEqual({ proto: PROTO.h3, range: '', ifRange: '' });
    expect(rest).toMatchObject({ proto: PROTO.h2, ifRange: '"a"' });
    expect(Number(/^bytes=(\d+)-$/.exec(rest!.range)?.[1])).toBeGreaterThan(0);
    expect(more).toEqual([]);
    if (kind === 'auto') {
      expect(pinned.fallbacks).toBe(1);
      expect(pinned.terminating.findProtocol('localhost', server.port)).toBe('h2');
      expect(pinned.lifted).toEqual([]);
      expect((await ask2(session, { ':path': '/bytes/20' })).status).toBe(200);
    } else await until(() => pinned.lifted.length === 1);
  });

  it('to a browser over HTTP/1.1', async () => {
    await pin('h3');
    const socket = await pinned.connect(server.port, 'http/1.1');
    const begun = link.passed('down', FIRST_BYTES);
    const answer = ask1(socket, {
      path: `/file/${FILE_BYTES}?tag=a`,
      headers: { host: `localhost:${server.port}` },
    });
    await begun;
    link.packetLoss = 1;
    expect((await answer).body.equals(file)).toBe(true);
    socket.destroy();
  });

  it('where the browser was not reading when the path died', async () => {
    await pin('auto');
    const begun = link.passed('down', FIRST_BYTES / 4);
    const stream = session.request({ ':path': `/file/${FILE_BYTES}?tag=a` });
    await begun;
    link.packetLoss = 1;
    await sleep(STEADY_MS);
    expect((await answer2(stream)).body.equals(file)).toBe(true);
    expect((await listAsked()).map(({ proto }) => proto)).toEqual([PROTO.h3, PROTO.h2]);
  });

  it('for all responses that are under way', async () => {
    await pin('auto');
    const begun = link.passed('down', 3 * FIRST_BYTES);
    const answers = ['a', 'b', 'c'].map((tag) =>
      ask2(session, { ':path': `/file/${FILE_BYTES}?tag=${tag}` }),
    );
    await begun;
    link.packetLoss = 1;
    for (const { body } of await Promise.all(answers)) expect(body.equals(file)).toBe(true);
    expect(pinned.fallbacks).toBe(1);
  });
});

describe('does not go on', () => {
  it('with answers that are not surely the rest', async () => {
    const kinds = ['changed', 'unasked', 'whole', 'shifted', 'several', 'coded', 'other'];
    await pin('auto');
    const begun = link.passed('down', kinds.length * FIRST_BYTES);
    const answers = kinds.map((rest) => ask2(session, { ':path': `/file/${FILE_BYTES}?tag=a&rest=${rest}` }));
    await begun;
    link.packetLoss = 1;
    const asked = await server.seen(2 * kinds.length, (path) => path.startsWith('/file'));
    expect(asked.filter(({ range }) => range !== '')).toHaveLength(kinds.length);
    await sleep(STEADY_MS / 4);
    // Packets pass again before QUIC gives up: what comes is of the first exchanges alone.
    link.packetLoss = 0;
    for (const { body } of await Promise.all(answers)) expect(body.equals(file)).toBe(true);
    expect(pinned.fallbacks).toBe(0);
  });

  it('beyond a rest that is too short or too long', async () => {
    await pin('auto');
    const begun = link.passed('down', 2 * FIRST_BYTES);
    const answers = ['short', 'long'].map((rest) =>
      ask2(session, { ':path': `/file/${FILE_BYTES}?tag=a&rest=${rest}` }),
    );
    const ends = Promise.allSettled(answers);
    await begun;
    link.packetLoss = 1;
    expect(await ends).toMatchObject(Array(2).fill({ status: 'rejected', reason: FAILED }));
  });

  it('where packets pass again before the rest comes', async () => {
    const answer = askAndDrop('tag=a&rest=slow');
    expect((await listAsked())[1]?.range).not.toBe('');
    link.packetLoss = 0;
    expect((await answer).body.equals(file)).toBe(true);
    expect(pinned.fallbacks).toBe(0);
    expect(pinned.terminating.findProtocol('localhost', server.port)).toBe('h3');
  });

  it('where the server is only slow', async () => {
    await pin('auto');
    const answer = await ask2(session, { ':path': `/file/${FILE_BYTES}?tag=a&pause=${STEADY_MS}` });
    expect(answer.body.equals(file)).toBe(true);
    const asked = await server.seen();
    expect(asked.filter(({ range }) => range !== '')).toEqual([]);
    // So that its silence is seen to mean nothing.
    expect(asked.filter(({ method, proto }) => method === 'HEAD' && proto === PROTO.h3)).not.toEqual([]);
    expect(pinned.fallbacks).toBe(0);
  });
});
