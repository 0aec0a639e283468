/** A pin of the kind `auto`: each request goes under the protocol that the origin was steered to last, and exchanges are measured. */
import type { ClientHttp2Session } from 'node:http2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FaultyLink } from '../../faults/faulty-link.ts';
import { PROTO, type Server } from '../../support/server.ts';
import { until } from '../proxy/support/peers.ts';
import { ask2, type Pinned } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

let served: ServedPins;
let server: Server;
let withoutH3: Server;
let pinned: Pinned;
let session: ClientHttp2Session | null = null;

beforeAll(async () => {
  served = await servePins(['-protocols', 'h1,h2']);
  ({ server, pinned } = served);
  withoutH3 = served.others[0]!;
});

afterEach(async () => {
  session?.close();
  session = null;
  pinned.terminating.close();
  pinned.measured.length = 0;
  pinned.lifted.length = 0;
  pinned.fallbacks = 0;
  pinned.connectTo = undefined;
  pinned.network = 'home';
  await server.seen();
});

afterAll(() => served.stop());

async function open(port: number): Promise<ClientHttp2Session> {
  await pinned.pin(port, 'auto');
  session = await pinned.http2(port);
  return session;
}

const steer = (port: number, protocol: 'h1' | 'h2' | 'h3') =>
  pinned.terminating.steer('localhost', port, protocol);

/** Protocols of the requests for a path that the server has seen since it was last asked. */
async function listProtocols(path: string): Promise<string[]> {
  return (await server.seen()).filter((each) => each.path.startsWith(path)).map(({ proto }) => proto);
}

it('begins with HTTP/2, and sends the next request under the protocol that it is steered to', async () => {
  const client = await open(server.port);
  for (const protocol of ['h2', 'h3', 'h1', 'h3'] as const) {
    expect(await steer(server.port, protocol)).toBe('');
    expect(pinned.terminating.findProtocol('localhost', server.port)).toBe(protocol);
    expect((await ask2(client, { ':path': `/bytes/10/${protocol}` })).status).toBe(200);
  }
  expect(await listProtocols('/bytes/10')).toEqual([PROTO.h2, PROTO.h3, PROTO.h1, PROTO.h3]);
  expect(pinned.lifted).toEqual([]);
});

it('lets requests in progress end where they are', async () => {
  const client = await open(server.port);
  const slow = ask2(client, { ':path': '/trickle/30000' });
  await server.seen(1, (path) => path.startsWith('/trickle'));
  expect(await steer(server.port, 'h3')).toBe('');
  const fast = ask2(client, { ':path': '/bytes/20' });
  expect((await fast).body).toHaveLength(20);
  expect((await slow).body).toHaveLength(30_000);
  await until(() => pinned.measured.length === 2);
  expect(pinned.measured.map(({ protocol, bodyBytes }) => [protocol, bodyBytes])).toEqual([
    ['h3', 20],
    ['h2', 30_000],
  ]);
});

it('says what each exchange has shown, and whether it reused a connection', async () => {
  const client = await open(server.port);
  for (const path of ['/bytes/1000', '/bytes/2000']) await ask2(client, { ':path': path });
  await steer(server.port, 'h3');
  for (const path of ['/bytes/3000', '/bytes/4000']) await ask2(client, { ':path': path });
  await until(() => pinned.measured.length === 4);
  expect(
    pinned.measured.map(({ protocol, bodyBytes, isReused }) => ({ protocol, bodyBytes, isReused })),
  ).toEqual([
    // The check of the origin has left its connection.
    { protocol: 'h2', bodyBytes: 1000, isReused: expect.any(Boolean) },
    { protocol: 'h2', bodyBytes: 2000, isReused: true },
    { protocol: 'h3', bodyBytes: 3000, isReused: true },
    { protocol: 'h3', bodyBytes: 4000, isReused: true },
  ]);
  for (const { status, endedAtMs, completionMs, ttfbMs } of pinned.measured) {
    expect(status).toBe(200);
    expect(Math.abs(Date.now() - endedAtMs)).toBeLessThan(60_000);
    expect(completionMs).toBeGreaterThanOrEqual(ttfbMs);
  }
});

it('stays as it is where the origin does not answer under a protocol', async () => {
  const client = await open(withoutH3.port);
  expect(await steer(withoutH3.port, 'h3')).not.toBe('');
  expect(pinned.terminating.findProtocol('localhost', withoutH3.port)).toBe('h2');
  expect((await ask2(client, { ':path': '/bytes/10' })).status).toBe(200);
  expect(pinned.lifted).toEqual([]);
});

it('falls back to HTTP/2, and does not end, where a protocol stops working; no request is lost', async () => {
  const client = await open(server.port);
  expect(await steer(server.port, 'h3')).toBe('');
  expect((await ask2(client, { ':path': '/bytes/10' })).status).toBe(200);
  // From now on connections lead to a server without HTTP/3.
  pinned.connectTo = `localhost:${server.port}:localhost:${withoutH3.port}`;
  expect((await ask2(client, { ':path': '/bytes/30' })).body).toHaveLength(30);
  await until(() => pinned.fallbacks > 0);
  expect(pinned.terminating.findProtocol('localhost', server.port)).toBe('h2');
  expect(await steer(server.port, 'h3')).not.toBe('');
  expect(pinned.lifted).toEqual([]);
});

it('tries a protocol again on another network than the one on which it did not work', async () => {
  const client = await open(server.port);
  pinned.connectTo = `localhost:${server.port}:localhost:${withoutH3.port}`;
  expect(await steer(server.port, 'h3')).not.toBe('');
  pinned.connectTo = undefined;
  expect(await steer(server.port, 'h3')).toBe('the origin does not answer over HTTP/3');
  pinned.network = 'elsewhere';
  expect(await steer(server.port, 'h3')).toBe('');
  expect((await ask2(client, { ':path': '/bytes/10' })).status).toBe(200);
  expect(await listProtocols('/bytes/10')).toEqual([PROTO.h3]);
});

it('is not steered without such a pin', async () => {
  expect(await steer(server.port, 'h3')).toBe('the origin has no pin of the kind auto');
  await pinned.pin(server.port, 'h2');
  expect(await steer(server.port, 'h3')).toBe('the origin has no pin of the kind auto');
});

describe('where UDP is blocked in mid-session', () => {
  let link: FaultyLink;
  let client: ClientHttp2Session;

  beforeEach(async () => {
    link = await FaultyLink.open(server.port);
    pinned.connectTo = `localhost:${server.port}:localhost:${link.port}`;
    client = await open(server.port);
    expect(await steer(server.port, 'h3')).toBe('');
    expect((await ask2(client, { ':path': '/bytes/10' })).status).toBe(200);
    await server.seen();
  });

  afterEach(() => link.close());

  it('requests are sent over TCP as well, and QUIC rests', async () => {
    link.packetLoss = 1;
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => ask2(client, { ':path': `/bytes/${100 + at}` })),
    );
    expect(answers.map(({ body }) => body.length)).toEqual([100, 101, 102, 103, 104, 105]);
    expect(pinned.fallbacks).toBe(1);
    expect(pinned.terminating.findProtocol('localhost', server.port)).toBe('h2');
    expect(pinned.lifted).toEqual([]);
    expect((await ask2(client, { ':path': '/bytes/20' })).status).toBe(200);
    expect(new Set(await listProtocols('/bytes'))).toEqual(new Set([PROTO.h2]));
    // The same browser connection served all of it, and QUIC may be tried again.
    link.packetLoss = 0;
    expect(await steer(server.port, 'h3')).toBe('');
    expect((await ask2(client, { ':path': '/bytes/30' })).status).toBe(200);
    expect(await listProtocols('/bytes/30')).toEqual([PROTO.h3]);
  });

  it('so are requests whose arrival was acknowledged before', async () => {
    const acknowledged = link.passed('down', 1);
    const slow = ask2(client, { ':path': '/bytes/50?delay=300' });
    await acknowledged;
    // What others are answered meanwhile shows nothing of what comes after.
    expect((await ask2(client, { ':path': '/bytes/40' })).body).toHaveLength(40);
    link.packetLoss = 1;
    expect((await slow).body).toHaveLength(50);
    expect(pinned.terminating.findProtocol('localhost', server.port)).toBe('h2');
    // It rests: a check that fails over another connection would have shown it as unusable.
    link.packetLoss = 0;
    expect(await steer(server.port, 'h3')).toBe('');
  });

  it('QUIC rests once on a network, and is refused there the second time', async () => {
    for (const outcome of ['', 'the origin does not answer over HTTP/3']) {
      link.packetLoss = 1;
      expect((await ask2(client, { ':path': '/bytes/60' })).body).toHaveLength(60);
      await until(() => pinned.terminating.findProtocol('localhost', server.port) === 'h2');
      link.packetLoss = 0;
      expect(await steer(server.port, 'h3')).toBe(outcome);
      if (outcome === '') expect((await ask2(client, { ':path': '/bytes/70' })).status).toBe(200);
    }
    pinned.network = 'elsewhere';
    expect(await steer(server.port, 'h3')).toBe('');
  });

  it('a request that is not safe is sent once', async () => {
    link.packetLoss = 1;
    const post = ask2(client, { ':path': '/digest', ':method': 'POST' }, Buffer.from('once')).catch(
      (error: Error) => error,
    );
    expect((await ask2(client, { ':path': '/bytes/20' })).body).toHaveLength(20);
    link.packetLoss = 0;
    await post;
    expect((await server.seen()).filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(1);
  });
});
