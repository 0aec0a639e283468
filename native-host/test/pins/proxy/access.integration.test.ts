/** Who gets through the proxy, and what everybody else learns. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackProxy, type ProxyLimits, type ProxyRoute } from '../../../src/pins/proxy/loopback-proxy.ts';
import { SocketUsers } from '../../../src/pins/proxy/socket-users.ts';
import { connectHead, hear, Origin, openTunnel, say, until } from './support/peers.ts';

const proxies: LoopbackProxy[] = [];
const routed: string[] = [];
const logged: string[] = [];
let origin: Origin;
let accepted: number;

beforeEach(async () => {
  routed.length = 0;
  logged.length = 0;
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
    route: (host, port) => {
      routed.push(`${host}:${port}`);
      return route;
    },
    log: (line) => logged.push(line),
    limits,
  });
  proxies.push(proxy);
  return proxy.listen();
}

function target(): string {
  return `127.0.0.1:${origin.port}`;
}

const isRoot = process.getuid?.() === 0;
/** `nobody`, on any Linux. */
const OTHER_USER = 65_534;

describe('a CONNECT', () => {
  it.each(['127.0.0.1', '::ffff:127.0.0.1'])(
    'of this user reaches its origin by a socket to %s',
    async (to) => {
      const socket = connect({ port: await start(), host: to, allowHalfOpen: true });
      socket.write(connectHead(target()));
      const heard = await hear(socket);
      expect(heard.bytes.toString()).toBe('HTTP/1.1 200 Connection Established\r\n\r\nhello');
      expect(routed).toEqual([target()]);
      expect(logged).toEqual([]);
    },
  );

  it.runIf(isRoot)('of another user is reset, whatever is pinned', async () => {
    const port = await start();
    for (const to of [target(), 'example.org:443', '[2001:db8::1]:1']) {
      const said = `require('node:net').connect(${port}, '127.0.0.1', function () {
        this.write(${JSON.stringify(connectHead(to))});
      }).on('data', (bytes) => console.log('answered', String(bytes))).on('error', ({ code }) => console.log(code))`;
      const as = { uid: OTHER_USER, gid: OTHER_USER, cwd: '/' };
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', said], as);
      expect(stdout).toBe('ECONNRESET\n');
    }
    expect(routed).toEqual([]);
    expect(accepted).toBe(0);
    expect(logged).toEqual([
      `pin proxy: refused a connection of user ${OTHER_USER}; further ones are not logged`,
    ]);
    expect((await say(port, connectHead(target()))).bytes.toString()).toMatch(/hello$/);
  });

  it('of a program that is gone leads nowhere, although the kernel may show it as one of root', async () => {
    const port = await start();
    const head = connectHead(target()).replaceAll('\r\n', '\\r\\n');
    // It has ended before the proxy, which is in this process, gets to see the connection.
    execFileSync('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port} && printf '${head}' >&3`]);
    await until(() => logged.length > 0);
    expect(logged).toEqual([
      'pin proxy: refused a connection that no program has any more; further ones are not logged',
    ]);
    expect(routed).toEqual([]);
    expect(accepted).toBe(0);
  });

  it('finds its user among many, and when many come at once', async () => {
    const others = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const socket = connect({ port: origin.port, host: '127.0.0.1', allowHalfOpen: true });
        await once(socket, 'connect');
        return socket;
      }),
    );
    const users = new SocketUsers();
    const ends = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): Socket =>
      ({
        localAddress: remoteAddress,
        localPort: remotePort,
        remoteAddress: localAddress,
        remotePort: localPort,
      }) as Socket;
    const found = await Promise.all(others.map((socket) => users.findUser(ends(socket))));
    expect(new Set(found)).toEqual(new Set([process.getuid?.()]));
    const [gone] = others;
    const goneEnds = ends(gone!);
    for (const socket of others) socket.destroy();
    await until(() => origin.sockets.size === 0);
    expect(await users.findUser(goneEnds)).toBe(null);
    expect(await users.findUser({} as Socket)).toBe(null);
  });

  it('is reset where its origin is refused, so that the browser goes without the proxy', async () => {
    const heard = await say(await start({}, { kind: 'refuse' }), connectHead(target()));
    expect(heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
    expect(accepted).toBe(0);
  });
});

/** A TLS 1.3 ClientHello from its record header on, as far as it matters. */
const CLIENT_HELLO = Buffer.from(`16030100${'c8010000c40303'}${'ab'.repeat(193)}`, 'hex');
/** A STUN binding request framed for TCP (RFC 4571, RFC 8489): what WebRTC sends to a TURN server or a peer. */
const STUN = Buffer.from(`0014${'000100002112a442'}${'cd'.repeat(12)}`, 'hex');

describe('everything else is closed without a byte', () => {
  it.each<[string, string | Uint8Array]>([
    ['a GET', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['a GET without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a GET in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['a GET as proxies get it', 'GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n'],
    [
      'a preflight',
      'OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n',
    ],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a POST', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'a POST that hides a CONNECT',
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n${connectHead('a.example:443')}`,
    ],
    ['a GET before a CONNECT', `GET / HTTP/1.1\r\nHost: a\r\n\r\n${connectHead('a.example:443')}`],
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
    ['HTTP/2.0', `CONNECT a.example:443 HTTP/2.0\r\nHost: a.example:443\r\n\r\n`],
    ['a CONNECT without Host', `CONNECT a.example:443 HTTP/1.1\r\n\r\n`],
    ['a CONNECT with two', `CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
    ['a CONNECT with content', connectHead('a.example:443', 'Content-Length: 3')],
    ['a CONNECT with no content', connectHead('a.example:443', 'Content-Length: 0')],
    ['a CONNECT with chunks', connectHead('a.example:443', 'Transfer-Encoding: chunked')],
    ['a CONNECT with a folded field', connectHead('a.example:443', 'A: b\r\n c')],
    ['a CONNECT with a space in a name', connectHead('a.example:443', 'A : b')],
    ['a CONNECT of bare line feeds', connectHead('a.example:443').replaceAll('\r', '')],
    ['a CONNECT to no port', connectHead('a.example')],
    ['a CONNECT to port 0', connectHead('a.example:0')],
    ['a CONNECT to a port beyond', connectHead('a.example:65536')],
    ['a CONNECT to a URL', connectHead('https://a.example:443/')],
    ['a CONNECT to a path', connectHead('/a:443')],
    ['a CONNECT with a user', connectHead('user@a.example:443')],
    ['a CONNECT to IPv6 without brackets', connectHead('::1:443')],
    ['a CONNECT to an address in disguise', connectHead('0x7f000001:443')],
    ['a CONNECT with a head beyond the limit', connectHead('a.example:443', `A: ${'b'.repeat(9_000)}`)],
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

  it('silence', async () => {
    const silent = connect(await start({ headTimeoutMs: 100 }), '127.0.0.1');
    expect(await hear(silent)).toEqual({ bytes: Buffer.alloc(0), reset: false });
  });
});

it('answers any bytes with silence where nothing is pinned, and goes on', async () => {
  const port = await start({ headTimeoutMs: 50 }, { kind: 'refuse' });
  const head = connectHead(target());
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
      expect((await say(port, bytes)).bytes.toString('latin1')).toBe('');
    }),
    { numRuns: 400 },
  );
  expect(accepted).toBe(0);
  routed.length = 0;
  // Its time limit may be too short for this one on a busy machine.
  const ask = () => say(port, connectHead(target())).then(() => routed.at(-1));
  await expect.poll(ask).toBe(target());
});

it('lets a browser in though others hold all the places of those who wait', async () => {
  const port = await start({ unidentified: 8 });
  const idlers = Array.from({ length: 20 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  let closed = 0;
  for (const idler of idlers) idler.once('close', () => (closed += 1)).resume();
  // The oldest are closed.
  await until(() => closed === 12);
  expect((await say(port, connectHead(target()))).bytes.toString()).toMatch(/hello$/);
  for (const idler of idlers) idler.destroy();
});

it('has a limit on open connections', async () => {
  const silent = await Origin.listen((socket) => socket.resume().once('end', () => socket.end()));
  const port = await start({ open: 2 });
  const to = `127.0.0.1:${silent.port}`;
  const first = await openTunnel(port, to);
  await openTunnel(port, to);
  expect(await say(port, connectHead(to))).toEqual({ bytes: Buffer.alloc(0), reset: true });
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
