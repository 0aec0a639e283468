/** Terminated requests whose way fails: none is lost, doubled or answered wrongly, and the next connection gets a tunnel. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FaultyLink } from '../../faults/faulty-link.ts';
import type { Server } from '../../support/server.ts';
import { hear, until } from '../proxy/support/peers.ts';
import {
  type Answer,
  answer2,
  ask1,
  ask2,
  isTerminated,
  newAuthority,
  type OwnOrigin,
  type Pinned,
} from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

const REFUSED = { rstCode: constants.NGHTTP2_REFUSED_STREAM };
const FAILED = { rstCode: constants.NGHTTP2_CANCEL };
const LONG_AGO_MS = 500 * 86_400_000;

let served: ServedPins;
let server: Server;
let pinned: Pinned;
let own: OwnOrigin | null = null;
let link: FaultyLink | null = null;

beforeAll(async () => {
  served = await servePins(['-protocols', 'h1'], ['-protocols', 'h1,h2'], ['-lifetime', '-1m']);
  ({ server, pinned } = served);
});

afterEach(async () => {
  pinned.terminating.close();
  await link?.close();
  link = null;
  pinned.lifted.length = 0;
  own?.server.close();
  own?.server.closeAllConnections();
  own = null;
});

afterAll(() => served.stop());

async function isTunnelled(port: number): Promise<boolean> {
  const socket = await pinned.connect(port, 'http/1.1');
  const terminated = isTerminated(socket);
  socket.destroy();
  return !terminated;
}

function goaway(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => session.once('goaway', () => resolve()));
}

describe('a pin', () => {
  it('is a tunnel until the origin is known to be good', async () => {
    await pinned.pin(server.port, 'h2');
    await server.seen(1);
    pinned.ready.length = 0;
    pinned.terminating.pin('localhost', server.port, 'h3', 'loopback');
    expect(pinned.terminating.routeConnect('localhost', server.port).kind).toBe('tunnel');
    expect(pinned.terminating.routeConnect('elsewhere.example', 443).kind).toBe('tunnel');
    await until(() => pinned.ready.length > 0);
    expect(pinned.terminating.routeConnect('localhost', server.port).kind).toBe('terminate');
    const seen = await server.seen(1);
    expect(seen).toMatchObject([{ proto: 'HTTP/3.0', method: 'HEAD', cookie: '' }]);
  });

  it('whose certificate is unknown is lifted, and the browser sees the origin’s own', async () => {
    const other = await served.program.start();
    pinned.terminating.pin('localhost', other.port, 'h2', 'loopback');
    await until(() => pinned.lifted.length > 0);
    expect(pinned.lifted).toEqual([{ port: other.port, reason: expect.stringMatching(/certificate/i) }]);
    await expect(pinned.connect(other.port, 'h2')).rejects.toThrow(/certificate/);
    expect(await other.seen()).toEqual([]);
    await other.stop();
  });

  it.each([
    ['h2', 0],
    ['h3', 1],
  ] as const)('to %s of an origin that does not speak it is lifted', async (protocol, other) => {
    const { port } = served.others[other]!;
    pinned.terminating.pin('localhost', port, protocol, 'loopback');
    await until(() => pinned.lifted.length > 0);
    expect(pinned.lifted).toMatchObject([{ port }]);
    expect(await isTunnelled(port)).toBe(true);
  });

  it('of an unreachable origin stays, as a tunnel', async () => {
    own = await pinned.origin(() => {});
    const { port } = own;
    await new Promise((resolve) => own!.server.close(resolve));
    pinned.terminating.pin('localhost', port, 'h1', 'loopback');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(pinned.lifted).toEqual([]);
    expect(pinned.terminating.routeConnect('localhost', port).kind).toBe('tunnel');
  });

  it('that ends lets what is under way come to its end', async () => {
    await pinned.pin(server.port, 'h2');
    const session = await pinned.http2(server.port);
    const idle = await pinned.connect(server.port, 'http/1.1');
    await ask1(idle, { path: '/bytes/10', headers: { host: `localhost:${server.port}` } });
    const slow = ask2(session, { ':path': '/trickle/50000' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const gone = [goaway(session), hear(idle)];
    pinned.terminating.unpin('localhost', server.port);
    await Promise.all(gone);
    expect((await slow).body).toHaveLength(50_000);
    await until(() => pinned.terminating.open === 0);
    expect(await isTunnelled(server.port)).toBe(true);
  });

  it('that ends leaves no connection to the origin', async () => {
    own = await pinned.origin((_request, response) => void response.end('well'));
    const { server: origin, port } = own;
    origin.keepAliveTimeout = 60_000;
    const countConnections = () =>
      new Promise((resolve) => origin.getConnections((_fault, count) => resolve(count)));
    await pinned.pin(port, 'h1');
    const session = await pinned.http2(port);
    await ask2(session, { ':path': '/' });
    expect(await countConnections()).not.toBe(0);
    pinned.terminating.unpin('localhost', port);
    await expect.poll(countConnections).toBe(0);
  });

  it('that ends passes on no request that crosses the end of a connection', async () => {
    await pinned.pin(server.port, 'h2');
    const host = `localhost:${server.port}`;
    const used = await pinned.connect(server.port, 'http/1.1');
    await ask1(used, { path: '/bytes/10', headers: { host } });
    await server.seen(2);
    const heard = hear(used);
    pinned.terminating.unpin('localhost', server.port);
    used.write(`POST /bytes/11 HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`);
    expect((await heard).bytes).toHaveLength(0);
    // The engine has passed on what it was given before.
    const { head } = pinned.engine.exchange({
      protocol: 'h2',
      method: 'GET',
      url: server.url('/bytes/12'),
      headers: [],
      body: null,
    });
    await head;
    expect((await server.seen(1)).map(({ path }) => path)).toEqual(['/bytes/12']);
  });

  it('to another protocol holds for open connections at once', async () => {
    await pinned.pin(server.port, 'h1');
    const session = await pinned.http2(server.port);
    await ask2(session, { ':path': '/bytes/10' });
    await server.seen(2);
    pinned.terminating.pin('localhost', server.port, 'h3', 'loopback');
    await ask2(session, { ':path': '/bytes/11' });
    const seen = await server.seen(1);
    expect(seen.find(({ path }) => path === '/bytes/11')?.proto).toBe('HTTP/3.0');
    session.destroy();
  });
});

describe('an engine that dies', () => {
  it.each(['h1', 'h2', 'h3'] as const)('under %s lets the browser repeat what may be', async (protocol) => {
    await pinned.pin(server.port, protocol);
    const session = await pinned.http2(server.port);
    await server.seen();
    const open = (method: string, path: string): ClientHttp2Stream =>
      session.request({ ':method': method, ':path': path });
    const streaming = open('GET', '/trickle/3000000');
    await new Promise((resolve) => streaming.once('response', resolve));
    const waiting = open('GET', '/bytes/10?delay=30000');
    const post = open('POST', '/bytes/10?delay=30000');
    // The check of the origin takes place unless it was found good before.
    await server.seen(3, (path) => path !== '/');
    const ends = [streaming, waiting, post].map((stream) => answer2(stream));
    const leaving = goaway(session);
    process.kill((await pinned.engine.pid())!, 'SIGKILL');
    await expect(ends[0]).rejects.toMatchObject(FAILED);
    await expect(ends[1]).rejects.toMatchObject(REFUSED);
    await expect(ends[2]).rejects.toMatchObject(FAILED);
    await leaving;
    expect(pinned.lifted).toEqual([{ port: server.port, reason: expect.stringMatching(/engine/) }]);
    expect(await server.seen()).toEqual([]);
    expect(await isTunnelled(server.port)).toBe(true);
  });
});

describe('a connection that the origin ends without an answer', () => {
  /** The methods of the requests, and what is done about one. */
  let seen: string[];
  let breaks: number;

  async function start(): Promise<OwnOrigin> {
    seen = [];
    breaks = 0;
    own = await pinned.origin((request, response) => {
      seen.push(request.method!);
      request.on('end', () => {
        if (breaks-- > 0) request.socket.destroy();
        else response.end('well');
      });
      request.resume();
    });
    await pinned.pin(own.port, 'h1');
    seen.length = 0;
    return own;
  }

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('is tried again for %s', async (method) => {
    const { port } = await start();
    const session = await pinned.http2(port);
    await ask2(session, { ':path': '/' });
    seen.length = 0;
    // Once libcurl repeats it by itself, as it had used the connection before.
    breaks = 2;
    const { body } = await ask2(session, { ':path': '/', ':method': method });
    expect(body.toString()).toBe('well');
    expect(seen).toEqual([method, method, method]);
    session.destroy();
  });

  it.each(['POST', 'PATCH', 'PROPPATCH'])('is the end of %s', async (method) => {
    const { port } = await start();
    const session = await pinned.http2(port);
    for (const body of [undefined, Buffer.from('body')]) {
      breaks = 9;
      await expect(ask2(session, { ':path': '/', ':method': method }, body)).rejects.toMatchObject(FAILED);
    }
    expect(seen).toEqual([method, method]);
    expect(pinned.lifted).toEqual([]);
    session.destroy();
  });

  it('is an error of POST that a browser over HTTP/1.1 takes for no lost connection', async () => {
    const { port } = await start();
    const socket = await pinned.connect(port, 'http/1.1');
    const options = { path: '/', method: 'POST', headers: { host: `localhost:${port}` } };
    expect((await ask1(socket, { ...options, method: 'GET' })).body.toString()).toBe('well');
    breaks = 9;
    await expect(ask1(socket, options)).rejects.toThrow(/Parse Error/);
    expect(seen).toEqual(['GET', 'POST']);
  });

  it('lets the browser repeat a PUT whose body is gone', async () => {
    const { port } = await start();
    breaks = 9;
    const session = await pinned.http2(port);
    const body = Buffer.from('body');
    await expect(ask2(session, { ':path': '/', ':method': 'PUT' }, body)).rejects.toMatchObject(REFUSED);
    const socket = await pinned.connect(port, 'http/1.1');
    const headers = { host: `localhost:${port}`, 'content-length': '4' };
    breaks = 9;
    const answer: Answer = await ask1(socket, { path: '/', method: 'PUT', headers }, body);
    expect(answer).toMatchObject({ status: 421, body: { length: 0 } });
    session.destroy();
  });

  it('is left to the browser when the origin no longer listens', async () => {
    const { port, server: origin } = await start();
    const session = await pinned.http2(port);
    await ask2(session, { ':path': '/' });
    await new Promise((resolve) => {
      origin.close(resolve);
      origin.closeAllConnections();
    });
    const leaving = goaway(session);
    await expect(ask2(session, { ':path': '/', ':method': 'POST' })).rejects.toMatchObject(REFUSED);
    await leaving;
    expect(pinned.lifted).toEqual([]);
    expect(pinned.terminating.routeConnect('localhost', port).kind).toBe('tunnel');
  });
});

describe('an origin whose certificate changes', () => {
  it.each([
    ['unknown', Date.now],
    ['expired', () => Date.now() - LONG_AGO_MS],
  ])('to one that is %s shows it to the browser', async (name, now) => {
    own = await pinned.origin((_request, response) => void response.end('well'));
    const { port } = own;
    await pinned.pin(port, 'h1');
    const session = await pinned.http2(port);
    expect((await ask2(session, { ':path': '/' })).body.toString()).toBe('well');
    own.issuer = (await newAuthority(join(served.folder, name), now)).issuer;
    // Or the engine resumes its session without a certificate.
    own.server.setTicketKeys(randomBytes(48));
    own.server.closeAllConnections();
    await expect(ask2(session, { ':path': '/', ':method': 'POST' })).rejects.toMatchObject(REFUSED);
    expect(pinned.lifted).toEqual([{ port, reason: expect.stringMatching(/certificate/i) }]);
    await expect(pinned.connect(port, 'http/1.1')).rejects.toThrow(/certificate/);
  });
});

describe('an origin over HTTP/3', () => {
  beforeEach(async () => {
    link = await FaultyLink.open(server.port);
    await pinned.pin(link.port, 'h3');
  });

  it('whose certificate has expired loses its pin, with this as the reason', async () => {
    const session = await pinned.http2(link!.port);
    await ask2(session, { ':path': '/bytes/10' });
    link!.moveTo(served.others[2]!.port);
    await expect(ask2(session, { ':path': '/bytes/10' })).rejects.toMatchObject(REFUSED);
    await until(() => pinned.lifted.length > 0);
    expect(pinned.lifted).toEqual([{ port: link!.port, reason: expect.stringMatching(/certificate/i) }]);
  });

  it('keeps its pin when its packets get lost for as long as a handshake may take', async () => {
    const session = await pinned.http2(link!.port);
    pinned.ready.length = 0;
    link!.packetLoss = 1;
    const answer = ask2(session, { ':path': '/bytes/10' });
    // Over another protocol.
    await until(() => link!.open > 0);
    link!.packetLoss = 0;
    expect((await answer).body).toHaveLength(10);
    await until(() => pinned.ready.length > 0);
    expect(pinned.lifted).toEqual([]);
  });
});

describe('a response that HTTP/2 cannot carry', () => {
  it.each([
    ['GET', 'left to the browser', REFUSED],
    ['POST', 'an error', FAILED],
  ])('to a %s is %s, and the next one comes by a tunnel', async (method, _outcome, expected) => {
    await pinned.pin(server.port, 'h1');
    const session = await pinned.http2(server.port);
    const answer = Buffer.from('HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok').toString('base64url');
    const asked = ask2(session, { ':path': `/raw?answer=${answer}`, ':method': method });
    await expect(asked).rejects.toMatchObject(expected);
    expect(pinned.lifted.map(({ port }) => port)).toEqual([server.port]);
    expect(await isTunnelled(server.port)).toBe(true);
  });
});

describe('an upgrade', () => {
  const upgrade = (port: number): string =>
    [
      'GET /chat HTTP/1.1',
      `Host: localhost:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      '',
      '',
    ].join('\r\n');

  async function echoing(): Promise<OwnOrigin> {
    own = await pinned.origin((_request, response) => void response.end());
    own.server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Url: ${request.url}\r\n\r\n`,
      );
      socket.write(head);
      socket.pipe(socket);
    });
    await pinned.pin(own.port, 'h1');
    return own;
  }

  it('is a connection to the origin', async () => {
    const { port } = await echoing();
    const socket = await pinned.connect(port, 'http/1.1');
    expect(isTerminated(socket)).toBe(true);
    const heard = hear(socket);
    socket.write(`${upgrade(port)}early`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    // What was under way when its pin ends may end by itself.
    pinned.terminating.unpin('localhost', port);
    socket.end(' and late');
    const { bytes } = await heard;
    const [head, echo] = bytes.toString().split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 101 .*X-Url: \/chat$/s);
    expect(echo).toBe('early and late');
  });

  it('ends once it is idle when its pin has ended', async () => {
    const { port } = await echoing();
    const socket = await pinned.connect(port, 'http/1.1');
    const heard = hear(socket);
    socket.write(`${upgrade(port)}early`);
    await once(socket, 'data');
    pinned.terminating.unpin('localhost', port);
    expect((await heard).bytes.toString()).toMatch(/early$/);
    await until(() => pinned.terminating.open === 0);
  });

  it('is not made with an origin of an unknown certificate', async () => {
    const { port } = await echoing();
    own!.issuer = (await newAuthority(join(served.folder, 'other'))).issuer;
    const socket: TLSSocket = await pinned.connect(port, 'http/1.1');
    const heard = hear(socket);
    socket.write(upgrade(port));
    expect((await heard).bytes).toHaveLength(0);
    expect(pinned.lifted).toHaveLength(1);
  });
});
