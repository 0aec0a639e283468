/** What a tunnel does with bytes, ends and resets. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lookup } from '../../../src/dns/lookup.ts';
import {
  LoopbackProxy,
  type LoopbackProxyOptions,
  type ProxyRoute,
} from '../../../src/pins/proxy/loopback-proxy.ts';
import { Tunnel } from '../../../src/pins/proxy/tunnel.ts';
import { connectHead, hear, Origin, openTunnel, say, until } from './support/peers.ts';

const MIB = 1024 * 1024;
/** In place of the proxy's own. */
const LIMIT_MS = 1_500;
const NAMES: Record<string, string> = { 'v4.example': '127.0.0.1', 'v6.example': '::1' };

const lookup: Lookup = async (host) => {
  const address = NAMES[host] ?? (/^[\d.:a-f]+$/.test(host) ? host : '');
  if (!address) throw new Error(`ENOTFOUND ${host}`);
  return [{ address, family: address.includes(':') ? 6 : 4 }];
};

let proxy: LoopbackProxy;
let port: number;
let log: string[];
let resets: string[];
const origins: Origin[] = [];

async function start(options: Partial<LoopbackProxyOptions> = {}): Promise<void> {
  await proxy?.close();
  proxy = new LoopbackProxy({
    route: () => ({ kind: 'tunnel', from: 'loopback' }),
    log: (line) => log.push(line),
    onReset: (host, toPort) => resets.push(`${host}:${toPort}`),
    lookup,
    ...options,
  });
  port = await proxy.listen();
}

beforeEach(async () => {
  log = [];
  resets = [];
  await start();
});

afterEach(async () => {
  await proxy.close();
  for (const origin of origins.splice(0)) await origin.close();
});

async function originOf(onSocket: (socket: Socket) => void, address?: string): Promise<Origin> {
  const origin = await Origin.listen(onSocket, address);
  origins.push(origin);
  return origin;
}

/** Both ends of an open tunnel. */
async function pair(): Promise<{ browser: Socket; origin: Socket; target: string }> {
  const listening = await originOf(() => {});
  const target = `127.0.0.1:${listening.port}`;
  const accepted = once(listening.server, 'connection');
  return { browser: await openTunnel(port, target), origin: (await accepted)[0], target };
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('bytes', () => {
  it('pass unchanged in both directions at once', async () => {
    const { browser, origin } = await pair();
    const up = randomBytes(24 * MIB + 7);
    const down = randomBytes(24 * MIB + 13);
    const heard = [hear(browser), hear(origin)];
    browser.end(up);
    origin.end(down);
    const [atBrowser, atOrigin] = await Promise.all(heard);
    expect(digest(atBrowser!.bytes)).toBe(digest(down));
    expect(digest(atOrigin!.bytes)).toBe(digest(up));
    await until(() => proxy.open === 0);
  });

  it('that come with the CONNECT are the first of the tunnel', async () => {
    const origin = await originOf((socket) => socket.pipe(socket));
    const early = randomBytes(100_000);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const heard = hear(socket);
    socket.end(Buffer.concat([Buffer.from(connectHead(`v4.example:${origin.port}`)), early]));
    const answer = Buffer.from('HTTP/1.1 200 Connection Established\r\n\r\n');
    expect(digest((await heard).bytes)).toBe(digest(Buffer.concat([answer, early])));
  });

  it('pass in pieces as they come', async () => {
    const { browser, origin } = await pair();
    for (const [from, to] of [
      [browser, origin],
      [origin, browser],
    ] as const) {
      for (const piece of ['a', 'bc', 'd']) {
        from.write(piece);
        const [chunk] = await once(to, 'data');
        expect(chunk.toString()).toBe(piece);
      }
    }
  });

  it.each([
    ['the browser', 0],
    ['the origin', 1],
  ])('wait where %s does not read', async (_, slowIndex) => {
    const { browser, origin } = await pair();
    const [slow, sender] = slowIndex === 0 ? [browser, origin] : [origin, browser];
    const chunk = randomBytes(MIB);
    const sent = createHash('sha256');
    let chunks = 0;
    // The sockets' own buffers in the kernel hold some tens of MiB; without back-pressure the rest would be in this process.
    while (chunks < 1_000) {
      sent.update(chunk);
      chunks += 1;
      if (sender.write(chunk)) continue;
      const drained = await Promise.race([once(sender, 'drain').then(() => true), wait(1_000, false)]);
      if (!drained) break;
    }
    expect(chunks).toBeLessThan(150);
    expect(process.memoryUsage().external).toBeLessThan(200 * MIB);
    const got = createHash('sha256');
    slow.on('data', (bytes) => got.update(bytes)).on('end', () => slow.end());
    sender.end();
    await once(slow, 'end');
    expect(got.digest('hex')).toBe(sent.digest('hex'));
  });
});

describe('ends', () => {
  it('of the browser reach the origin, whose answer still comes whole', async () => {
    const { browser, origin } = await pair();
    const answer = randomBytes(5 * MIB);
    let request = '';
    origin.on('data', (chunk) => {
      request += chunk;
    });
    origin.once('end', () => origin.end(answer));
    const heard = hear(browser);
    browser.end('request');
    expect(digest((await heard).bytes)).toBe(digest(answer));
    expect(request).toBe('request');
  });

  it('of the origin reach the browser, whose bytes still come whole', async () => {
    const { browser, origin } = await pair();
    const upload = randomBytes(5 * MIB);
    browser.resume().once('end', () => browser.end(upload));
    const heard = hear(origin);
    origin.end();
    expect(digest((await heard).bytes)).toBe(digest(upload));
  });

  it('of a browser that is gone close both sides', async () => {
    const { browser, origin } = await pair();
    const heard = hear(origin);
    browser.destroy();
    await heard;
    await until(() => proxy.open === 0);
  });
});

describe('resets', () => {
  it('of the origin reach the browser after what came before', async () => {
    const { browser, origin } = await pair();
    const heard = hear(browser);
    origin.write('the beginning of');
    await once(browser, 'data');
    origin.resetAndDestroy();
    const { bytes, reset } = await heard;
    expect(bytes.toString()).toBe('the beginning of');
    expect(reset).toBe(true);
    await until(() => proxy.open === 0);
  });

  it('of the browser reach the origin', async () => {
    const { browser, origin } = await pair();
    const heard = hear(origin);
    browser.resetAndDestroy();
    expect((await heard).reset).toBe(true);
    await until(() => proxy.open === 0);
  });

  it('wait for a side that takes nothing no longer than for one that has closed', async () => {
    const listening = await originOf((socket) => socket.pause());
    const browser = new Socket();
    const toOrigin = new Socket({ allowHalfOpen: true });
    const between = await originOf(
      (socket) => new Tunnel(socket, toOrigin, { idleMs: 60_000, halfClosedMs: 200 }),
    );
    toOrigin.connect(listening.port, '127.0.0.1');
    await once(toOrigin, 'connect');
    browser.connect(between.port, '127.0.0.1');
    await once(browser, 'connect');
    // Until the kernel's buffers are full; not so much that the tunnel stops to read, and sees no reset.
    while (toOrigin.writableLength === 0) {
      browser.write(randomBytes(16 * 1024));
      await wait(0);
    }
    browser.resetAndDestroy();
    await once(toOrigin, 'close');
  });

  it('reach the side that has been ended already', async () => {
    const { browser, origin } = await pair();
    const code = new Promise((resolve) =>
      origin.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code)),
    );
    browser.end();
    await once(origin.resume(), 'end');
    browser.resetAndDestroy();
    // A side that has ended is not read any more: its reset shows when something is written to it.
    const writing = setInterval(() => origin.write('into the void'), 5);
    origin.once('close', () => clearInterval(writing));
    expect(['ECONNRESET', 'EPIPE']).toContain(await code);
  });
});

describe('an origin', () => {
  it.each(['[::1]', 'v6.example'])('at %s is reached over IPv6', async (host) => {
    const origin = await originOf((socket) => socket.end(socket.localAddress!).resume(), '::1');
    const socket = await openTunnel(port, `${host}:${origin.port}`);
    expect((await hear(socket)).bytes.toString()).toBe('::1');
  });

  it('that refuses is a reset to the browser', async () => {
    const origin = await originOf(() => {});
    const target = `127.0.0.1:${origin.port}`;
    await origins.pop()!.close();
    expect(await say(port, connectHead(target))).toEqual({
      bytes: Buffer.alloc(0),
      reset: true,
    });
    expect(resets).toEqual([target]);
    expect(log.join()).toMatch(/127\.0\.0\.1:\d+: connect ECONNREFUSED/);
  });

  it('without an address is one too', async () => {
    const heard = await say(port, connectHead('dead.example:443'));
    expect(heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
    expect(resets).toEqual(['dead.example:443']);
  });

  it('that does not answer is one when its time is over', async () => {
    await start({ lookup: () => new Promise(() => {}), limits: { connectTimeoutMs: 50 } });
    const heard = await say(port, connectHead('slow.example:443'));
    expect(heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
    expect(log.join()).toContain('no connection within 50 ms');
  });

  it('that is this proxy is not connected to', async () => {
    for (const host of ['127.0.0.1', 'v4.example', '0.0.0.0', '[::1]', '[::ffff:7f00:1]', '[::]']) {
      const heard = await say(port, connectHead(`${host}:${port}`));
      expect(heard, host).toEqual({ bytes: Buffer.alloc(0), reset: true });
    }
    expect(log).toHaveLength(6);
    for (const line of log) expect(line).toContain('no address');
  });

  it('whose route fails is a reset, and the proxy goes on', async () => {
    await start({
      route: (host) => {
        if (host === 'v4.example') throw new Error('a defect');
        return { kind: 'tunnel', from: 'loopback' };
      },
    });
    const origin = await originOf((socket) => socket.end('hello').resume());
    const heard = await say(port, connectHead(`v4.example:${origin.port}`));
    expect(heard).toEqual({ bytes: Buffer.alloc(0), reset: true });
    expect((await hear(await openTunnel(port, `127.0.0.1:${origin.port}`))).bytes.toString()).toBe('hello');
  });
});

describe('idleness', () => {
  it('ends a tunnel, bytes in either direction do not', async () => {
    await start({ limits: { idleTimeoutMs: 400 } });
    const idle = await pair();
    const busy = await pair();
    const idleHeard = hear(idle.browser);
    let closed = false;
    busy.browser
      .on('error', () => {})
      .once('close', () => {
        closed = true;
      });
    busy.browser.resume();
    busy.origin.resume();
    for (let beat = 0; beat < 12; beat++) {
      (beat % 2 === 0 ? busy.browser : busy.origin).write('.');
      await wait(75);
    }
    await idleHeard;
    expect(closed).toBe(false);
    expect(proxy.open).toBe(1);
  });

  it('ends a tunnel sooner that one side has closed', async () => {
    await start({ limits: { halfClosedTimeoutMs: 100 } });
    const { browser, origin } = await pair();
    origin.on('error', () => {}).resume();
    browser.end();
    await once(origin, 'end');
    await until(() => proxy.open === 0);
  });
});

describe('closeOrigin', () => {
  it('ends tunnels of that origin when they are idle', async () => {
    const { browser, origin, target } = await pair();
    const other = await pair();
    browser.write('request');
    await once(origin, 'data');
    const toPort = Number(target.split(':')[1]);
    proxy.closeOrigin('127.0.0.1', toPort, 'loopback', 'ended');
    let closed = false;
    browser.once('close', () => {
      closed = true;
    });
    const heard = hear(browser);
    // An answer is awaited.
    await wait(1_500);
    expect(closed).toBe(false);
    // Its pieces come in time.
    for (let piece = 0; piece < 6; piece++) {
      origin.write(`${piece}`);
      await wait(300);
    }
    expect((await heard).bytes.toString()).toBe('012345');
    await until(() => proxy.open === 1);
    other.browser.write('still there');
    expect((await once(other.origin, 'data')).toString()).toBe('still there');
    other.origin.write('yes');
    expect((await once(other.browser, 'data')).toString()).toBe('yes');
    await wait(1_100);
    // Idle for long enough already.
    proxy.closeOrigin('127.0.0.1', Number(other.target.split(':')[1]), 'loopback', 'ended');
    await until(() => proxy.open === 0, 500);
  });

  it.each(['ended', 'replaced'] as const)(
    'ends a tunnel that is never idle when its time is over after its route was %s',
    async (change) => {
      await start({
        limits: { [change === 'ended' ? 'endingTimeoutMs' : 'replacedTimeoutMs']: LIMIT_MS },
      });
      const { browser, origin, target } = await pair();
      origin.pipe(origin);
      const heard = hear(browser);
      const talk = setInterval(() => browser.write('.'), 50);
      const begin = performance.now();
      const toPort = Number(target.split(':')[1]);
      proxy.closeOrigin('127.0.0.1', toPort, 'loopback', change);
      const again = setTimeout(() => proxy.closeOrigin('127.0.0.1', toPort, 'loopback', change), 500);
      await heard;
      clearTimeout(again);
      clearInterval(talk);
      expect(performance.now() - begin).toBeGreaterThan(LIMIT_MS - 50);
      await until(() => proxy.open === 0);
    },
  );

  it('cuts a tunnel at once that leads where its origin may not be connected to any more', async () => {
    const { browser, origin, target } = await pair();
    const other = await pair();
    const heard = [hear(browser), hear(origin)];
    browser.write('request');
    await once(origin, 'data');
    proxy.closeOrigin('127.0.0.1', Number(target.split(':')[1]), 'public', 'replaced');
    browser.write('another request');
    const [, atOrigin] = await Promise.all(heard);
    expect(atOrigin!.bytes.toString()).toBe('request');
    expect(proxy.open).toBe(1);
    other.browser.write('still there');
    expect((await once(other.origin, 'data')).toString()).toBe('still there');
  });

  it('routes anew what waits for a connection', async () => {
    let route: ProxyRoute = { kind: 'tunnel', from: 'loopback' };
    const asked: string[] = [];
    await start({
      route: () => route,
      lookup: (host) => {
        asked.push(host);
        return new Promise(() => {});
      },
    });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const heard = hear(socket);
    socket.write(`${connectHead('slow.example:443')}early`);
    await until(() => asked.length === 1);
    route = {
      kind: 'terminate',
      accept: (accepted) => accepted.once('data', (chunk) => accepted.end(`got ${chunk}`)),
    };
    proxy.closeOrigin('slow.example', 443, 'loopback', 'replaced');
    expect((await heard).bytes.toString()).toBe('HTTP/1.1 200 Connection Established\r\n\r\ngot early');
    expect(resets).toEqual([]);
  });
});

it('hands a terminated connection over with its first bytes', async () => {
  const accepted: [Duplex, string, number][] = [];
  await start({ route: () => ({ kind: 'terminate', accept: (...all) => accepted.push(all) }) });
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(`${connectHead('[2001:db8::1]:8443')}hello`);
  await until(() => accepted.length === 1);
  const [duplex, host, toPort] = accepted[0]!;
  expect(duplex).toBeInstanceOf(Duplex);
  expect([host, toPort]).toEqual(['[2001:db8::1]', 8443]);
  expect((await once(duplex, 'data')).toString()).toBe('hello');
  expect(proxy.open).toBe(1);
  socket.destroy();
  duplex.destroy();
  await until(() => proxy.open === 0);
});

it('closes every connection with itself', async () => {
  await start({ lookup: (host) => (host === 'slow.example' ? new Promise(() => {}) : lookup(host)) });
  const { browser, origin } = await pair();
  const heard = [hear(browser), hear(origin)];
  const waiting = hear(connect(port, '127.0.0.1'));
  const connecting = say(port, connectHead('slow.example:443'));
  await until(() => proxy.open === 2);
  await proxy.close();
  await Promise.all([...heard, waiting]);
  // The browser goes on without the proxy.
  expect(await connecting).toEqual({ bytes: Buffer.alloc(0), reset: true });
  expect(proxy.open).toBe(0);
  const [fault] = await once(connect(port, '127.0.0.1'), 'error');
  expect(fault.code).toBe('ECONNREFUSED');
  await start();
});
