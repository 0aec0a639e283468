/** Who gets through the proxy, and what everybody else learns. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackProxy, type ProxyLimits, type ProxyRoute } from '../../../src/pins/proxy/loopback-proxy.ts';
import { connectHead, credentials, hear, Origin, openTunnel, SECRET, say, until } from './support/peers.ts';

/** The answer to a CONNECT without the secret. */
const AUTHENTICATE =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="hopwise", charset="UTF-8"\r\n' +
  'Content-Length: 0\r\nConnection: close\r\n\r\n';

const proxies: LoopbackProxy[] = [];
const routed: string[] = [];
let origin: Origin;
let accepted: number;

beforeEach(async () => {
  routed.length = 0;
  accepted = 0;
  origin = await Origin.listen((socket) => {
    accepted += 1;
    socket.end('hello').resume();
  });
});

afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
  await origin.close();
});

async function start(
  limits: Partial<ProxyLimits> = {},
  route: ProxyRoute = { kind: 'tunnel', from: 'loopback' },
): Promise<number> {
  const proxy = new LoopbackProxy({
    secret: SECRET,
    route: (host, port) => {
      routed.push(`${host}:${port}`);
      return route;
    },
    log: () => {},
    limits,
  });
  proxies.push(proxy);
  return proxy.listen();
}

function target(): string {
  return `127.0.0.1:${origin.port}`;
}

describe('a CONNECT', () => {
  it('with the secret reaches its origin', async () => {
    const heard = await say(await start(), connectHead(target(), credentials()));
    expect(heard.bytes.toString()).toBe('HTTP/1.1 200 Connection Established\r\n\r\nhello');
    expect(routed).toEqual([target()]);
  });

  it.each([
    ['without a secret', []],
    ['with a wrong one', [credentials('another-secret-of-a-session')]],
    ['with a long one', [credentials('x'.repeat(4_000))]],
    ['with a part of it', [credentials(SECRET.slice(1))]],
    ['with none in the field', ['Proxy-Authorization:']],
    ['with bytes that are no base64', ['Proxy-Authorization: Basic \xff\xfe']],
    ['with the right one twice', [credentials(), credentials()]],
    ['with the right one for the origin', [credentials().replace('Proxy-', '')]],
  ])('%s is asked for it, whatever is pinned', async (_, fields) => {
    const port = await start();
    for (const to of [target(), 'example.org:443', '[2001:db8::1]:1']) {
      const heard = await say(port, Buffer.from(connectHead(to, ...fields), 'latin1'));
      expect(heard).toEqual({ bytes: Buffer.from(AUTHENTICATE), reset: false });
    }
    expect(routed).toEqual([]);
    expect(accepted).toBe(0);
  });

  it('gets through on the next connection after it was asked', async () => {
    const port = await start();
    await say(port, connectHead(target()));
    const heard = await say(port, connectHead(target(), credentials()));
    expect(heard.bytes.toString()).toMatch(/hello$/);
  });

  it('is reset where its origin is refused, so that the browser goes without the proxy', async () => {
    const heard = await say(await start({}, { kind: 'refuse' }), connectHead(target(), credentials()));
    expect(heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
    expect(accepted).toBe(0);
  });
});

/** A TLS 1.3 ClientHello from its record header on, as far as it matters. */
const CLIENT_HELLO = Buffer.from(`16030100${'c8010000c40303'}${'ab'.repeat(193)}`, 'hex');
/** A STUN binding request framed for TCP (RFC 4571, RFC 8489): what WebRTC sends to a TURN server or a peer. */
const STUN = Buffer.from(`0014${'000100002112a442'}${'cd'.repeat(12)}`, 'hex');

describe('everything else is closed without a byte', () => {
  const secret = credentials();
  it.each<[string, string | Uint8Array]>([
    ['a GET', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['a GET without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a GET in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    [
      'a GET as proxies get it, with the secret',
      `GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n${secret}\r\n\r\n`,
    ],
    [
      'a preflight',
      'OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n',
    ],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a POST', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'a POST that hides a CONNECT',
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n${connectHead('a.example:443', secret)}`,
    ],
    ['a GET before a CONNECT', `GET / HTTP/1.1\r\nHost: a\r\n\r\n${connectHead('a.example:443', secret)}`],
    [
      'a request that expects to be asked on',
      'PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n',
    ],
    ['a request that expects something else', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n'],
    [
      'a WebSocket',
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
    ['TLS', CLIENT_HELLO],
    ['STUN', STUN],
    ['SOCKS 4', '\x04\x01\x01\xbb\x7f\0\0\x01\0'],
    ['SOCKS 5', '\x05\x02\0\x02'],
    ['another protocol', 'EHLO example.org\r\n'],
    ['no version', 'CONNECT a.example:443\r\n\r\n'],
    ['HTTP/2.0', `CONNECT a.example:443 HTTP/2.0\r\nHost: a.example:443\r\n${secret}\r\n\r\n`],
    ['a CONNECT without Host', `CONNECT a.example:443 HTTP/1.1\r\n${secret}\r\n\r\n`],
    ['a CONNECT with two', `CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nHost: b\r\n${secret}\r\n\r\n`],
    ['a CONNECT with content', connectHead('a.example:443', secret, 'Content-Length: 3')],
    ['a CONNECT with no content', connectHead('a.example:443', secret, 'Content-Length: 0')],
    ['a CONNECT with chunks', connectHead('a.example:443', secret, 'Transfer-Encoding: chunked')],
    ['a CONNECT with a folded field', connectHead('a.example:443', secret, 'A: b\r\n c')],
    [
      'a CONNECT with a space in a name',
      connectHead('a.example:443', `Proxy-Authorization : ${secret.slice(21)}`),
    ],
    ['a CONNECT of bare line feeds', connectHead('a.example:443', secret).replaceAll('\r', '')],
    ['a CONNECT to no port', connectHead('a.example', secret)],
    ['a CONNECT to port 0', connectHead('a.example:0', secret)],
    ['a CONNECT to a port beyond', connectHead('a.example:65536', secret)],
    ['a CONNECT to a URL', connectHead('https://a.example:443/', secret)],
    ['a CONNECT to a path', connectHead('/a:443', secret)],
    ['a CONNECT with a user', connectHead('user@a.example:443', secret)],
    ['a CONNECT to IPv6 without brackets', connectHead('::1:443', secret)],
    ['a CONNECT to an address in disguise', connectHead('0x7f000001:443', secret)],
    [
      'a CONNECT with a head beyond the limit',
      connectHead('a.example:443', `A: ${'b'.repeat(9_000)}`, secret),
    ],
  ])('%s', async (_, bytes) => {
    const { bytes: answer } = await say(await start(), bytes);
    expect(answer.toString('latin1')).toBe('');
    expect(routed).toEqual([]);
  });

  it('a head that never ends', async () => {
    const port = await start({ headTimeoutMs: 300 });
    const socket = connect(port, '127.0.0.1');
    let answer = 0;
    socket.on('data', ({ length }) => {
      answer += length;
    });
    const begin = performance.now();
    // Each byte comes in time; the limit is on the whole head.
    socket.write('CONNECT a.example:443 HTTP/1.1\r\nX: ');
    const drip = setInterval(() => socket.write('x'), 20);
    await new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    clearInterval(drip);
    expect(performance.now() - begin).toBeGreaterThan(250);
    expect(answer).toBe(0);
  });

  it('silence, and what stays after it was asked for the secret', async () => {
    const port = await start({ headTimeoutMs: 100 });
    const silent = connect(port, '127.0.0.1');
    const asked = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    asked.write(connectHead(target()));
    let answer = '';
    asked.on('data', (chunk) => {
      answer += chunk;
    });
    for (const socket of [silent, asked]) socket.on('error', () => {}).resume();
    await Promise.all(
      [silent, asked].map(
        (socket) => new Promise((resolve) => socket.once('close', resolve).once('end', () => socket.end())),
      ),
    );
    expect(answer).toBe(AUTHENTICATE);
  });
});

it('answers any bytes with silence or the request for the secret, and goes on', async () => {
  const port = await start({ headTimeoutMs: 50 });
  const head = connectHead(target(), credentials('a-wrong-secret-of-a-session'));
  const mutated = fc
    .array(
      fc.record({
        at: fc.nat(head.length),
        take: fc.nat(20),
        put: fc.string({ unit: 'binary', maxLength: 8 }),
      }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((edits) => {
      let text = head;
      for (const { at, take, put } of edits) text = text.slice(0, at) + put + text.slice(at + take);
      return Buffer.from(text);
    });
  const pieces = fc
    .array(
      fc.constantFrom(
        'CONNECT',
        ' ',
        '\r\n',
        '\n',
        ':',
        target(),
        'HTTP/1.1',
        'Host',
        '\0',
        '\x80',
        'Content-Length',
        '9',
        'Transfer-Encoding',
        'chunked',
      ),
      { maxLength: 30 },
    )
    .map((parts) => Buffer.from(parts.join(''), 'latin1'));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 300 }), mutated, pieces), async (bytes) => {
      const answer = (await say(port, bytes)).bytes.toString('latin1');
      expect(['', AUTHENTICATE]).toContain(answer);
    }),
    { numRuns: 400 },
  );
  expect(routed).toEqual([]);
  expect(accepted).toBe(0);
  expect((await say(port, connectHead(target(), credentials()))).bytes.toString()).toMatch(/hello$/);
});

it('lets a browser in though others hold all the places of those who wait', async () => {
  const port = await start({ unauthenticated: 8 });
  const idlers = Array.from({ length: 20 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  let closed = 0;
  for (const idler of idlers) idler.once('close', () => (closed += 1)).resume();
  // The oldest are closed.
  await until(() => closed === 12);
  expect((await say(port, connectHead(target(), credentials()))).bytes.toString()).toMatch(/hello$/);
  for (const idler of idlers) idler.destroy();
});

it('has a limit on open connections', async () => {
  const silent = await Origin.listen((socket) => socket.resume().once('end', () => socket.end()));
  const port = await start({ open: 2 });
  const to = `127.0.0.1:${silent.port}`;
  const first = await openTunnel(port, to);
  await openTunnel(port, to);
  expect(await say(port, connectHead(to, credentials()))).toEqual({ bytes: Buffer.alloc(0), reset: true });
  first.destroy();
  await until(() => proxies[0]!.open === 1);
  await openTunnel(port, to);
  await silent.close();
});

it('resets a connection without a CONNECT when it closes, so that the browser goes without the proxy', async () => {
  const port = await start();
  const browser = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(browser, 'connect');
  const heard = hear(browser);
  // Connections are accepted in order.
  await openTunnel(port, target());
  await proxies.pop()!.close();
  expect(await heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
});
