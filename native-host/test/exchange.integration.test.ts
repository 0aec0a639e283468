import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PROTOCOLS, type Protocol } from '@hopwise/native-host/messages';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Engine } from '../src/engine/engine.ts';
import { type Exchange, ExchangeError, type ExchangeRequest } from '../src/engine/exchange.ts';
import { type ChildMessage, EXCHANGE_PIPE } from '../src/engine/ipc.ts';
import { type Server, ServerProgram } from './support/server.ts';

const PROTO: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2.0', h3: 'HTTP/3.0' };
const MIB = 1024 * 1024;

/** What the server's `/digest` says of a request. */
interface Digest {
  bytes: number;
  whole: boolean;
  digest: string;
  length: number;
  encoding: string[] | null;
  headers: Record<string, string[]>;
  target: string;
  method: string;
}

let program: ServerProgram;
let server: Server;
let engine: Engine;

beforeAll(async () => {
  program = new ServerProgram();
  server = await program.start();
  process.env.HOPWISE_CA_FILE = server.caFile;
  engine = new Engine();
  const info = await engine.start();
  expect(info.http3, 'these tests need a libcurl with HTTP/3: hopwise-host setup').toBe(true);
});

afterAll(async () => {
  await engine.close();
  await server.stop();
  program.remove();
  delete process.env.HOPWISE_CA_FILE;
});

beforeEach(async () => {
  await server.seen();
});

function ask(protocol: Protocol, path: string, more: Partial<ExchangeRequest> = {}): Exchange {
  const request = { protocol, method: 'GET', url: server.url(path), headers: [], body: null, ...more };
  return engine.exchange(request);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function digestOf(exchange: Exchange): Promise<Digest> {
  return JSON.parse((await buffer(exchange.body)).toString()) as Digest;
}

/** How an exchange failed. */
async function failure(exchange: Exchange): Promise<ExchangeError> {
  const fault: unknown = await exchange.trailers.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(fault).toBeInstanceOf(ExchangeError);
  return fault as ExchangeError;
}

function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)![1]) * 1024;
}

/** An engine of its own for a server of its own. */
async function engineTrusting(other: Server): Promise<Engine> {
  const former = process.env.HOPWISE_CA_FILE;
  process.env.HOPWISE_CA_FILE = other.caFile;
  const own = new Engine();
  await own.start();
  process.env.HOPWISE_CA_FILE = former;
  return own;
}

/** The most that the engine and this process grow by while `run` runs. */
async function growth(run: () => Promise<void>): Promise<{ engine: number; host: number }> {
  const pids = { engine: (await engine.pid())!, host: process.pid };
  const before = { engine: residentBytes(pids.engine), host: residentBytes(pids.host) };
  const most = { ...before };
  const look = (): void => {
    for (const side of ['engine', 'host'] as const) {
      most[side] = Math.max(most[side], residentBytes(pids[side]));
    }
  };
  const timer = setInterval(look, 5);
  await run();
  clearInterval(timer);
  look();
  return { engine: most.engine - before.engine, host: most.host - before.host };
}

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('carries 100 exchanges at once, byte for byte, with their trailers', async () => {
    const sizes = Array.from({ length: 100 }, (_, index) => (index % 10) * 30_011 + index);
    await Promise.all(
      sizes.map(async (size, index) => {
        const exchange = ask(protocol, `/random/${size}?${index}`);
        expect(await exchange.head).toMatchObject({ protocol, status: 200 });
        const body = await buffer(exchange.body);
        expect(body).toHaveLength(size);
        expect(await exchange.trailers).toEqual([[expect.stringMatching(/^x-digest$/i), sha256(body)]]);
        expect(exchange.sent).toBe(true);
      }),
    );
    const seen = await server.seen(100);
    expect(new Set(seen.map(({ proto }) => proto))).toEqual(new Set([PROTO[protocol]]));
    expect(new Set(seen.map(({ client }) => client)).size).toBeLessThanOrEqual(protocol === 'h1' ? 6 : 1);
  });

  it('keeps its connections from one exchange to the next', async () => {
    for (let times = 0; times < 5; times += 1) await buffer(ask(protocol, '/bytes/10').body);
    expect(new Set((await server.seen(5)).map(({ client }) => client)).size).toBe(1);
  });

  it('takes 64 MB down in constant memory', async () => {
    const hash = createHash('sha256');
    const exchange = ask(protocol, '/random/64000000');
    const grown = await growth(async () => {
      for await (const chunk of exchange.body) hash.update(chunk as Buffer);
    });
    expect((await exchange.trailers)[0]![1]).toBe(hash.digest('hex'));
    expect(grown.engine).toBeLessThan(40 * MIB);
    expect(grown.host).toBeLessThan(48 * MIB);
  });

  it.each([
    ['known', true],
    ['unknown', false],
  ])('takes 64 MB of %s length up in constant memory', async (_name, known) => {
    const piece = randomBytes(64_000);
    const hash = createHash('sha256');
    for (let times = 0; times < 1000; times += 1) hash.update(piece);
    const body = Readable.from(repeat(piece, 1000), { objectMode: false });
    const headers: [string, string][] = known ? [['content-length', '64000000']] : [];
    let digest: Digest | null = null;
    const grown = await growth(async () => {
      digest = await digestOf(ask(protocol, '/digest', { method: 'PUT', headers, body }));
    });
    expect(digest).toMatchObject({
      bytes: 64_000_000,
      whole: true,
      digest: hash.digest('hex'),
      length: known ? 64_000_000 : -1,
      method: 'PUT',
    });
    expect(grown.engine).toBeLessThan(40 * MIB);
    expect(grown.host).toBeLessThan(48 * MIB);
  });

  it('waits for a slow reader without holding more, and lets others past', async () => {
    const slow = ask(protocol, '/random/100000000');
    await slow.head;
    const grown = await growth(async () => {
      for (let times = 0; times < 30; times += 1) {
        const size = times * 1000;
        expect(await buffer(ask(protocol, `/random/${size}`).body)).toHaveLength(size);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(slow.body.readableLength).toBeLessThan(MIB);
    });
    expect(grown.host).toBeLessThan(24 * MIB);
    expect(grown.engine).toBeLessThan(48 * MIB);
    const body = await buffer(slow.body);
    expect((await slow.trailers)[0]![1]).toBe(sha256(body));
  });

  it('holds a slow server’s upload back at its source', async () => {
    let taken = 0;
    const body = Readable.from(
      repeat(randomBytes(64_000), 1000, () => {
        taken += 64_000;
      }),
      { objectMode: false, highWaterMark: 64_000 },
    );
    const exchange = ask(protocol, '/silent', { method: 'POST', body });
    await exchange.head;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the engine, libcurl and both kernels hold of it.
    expect(taken).toBeLessThan(16_000_000);
    exchange.cancel();
  });

  it('waits for a slow source', async () => {
    const body = Readable.from(
      (async function* () {
        for (let times = 0; times < 10; times += 1) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          yield Buffer.from(`${times}`);
        }
      })(),
      { objectMode: false },
    );
    const digest = await digestOf(ask(protocol, '/digest', { method: 'POST', body }));
    expect(digest).toMatchObject({ bytes: 10, digest: sha256(Buffer.from('0123456789')) });
  });

  it('streams in both directions at once', async () => {
    const body = new PassThrough();
    const exchange = ask(protocol, '/echo', { method: 'POST', body });
    await exchange.head;
    const back = exchange.body[Symbol.asyncIterator]();
    for (const words of ['one', 'two', 'three']) {
      body.write(words);
      expect(String((await back.next()).value)).toBe(words);
    }
    const end = performance.now();
    body.end();
    expect((await back.next()).done).toBe(true);
    // libcurl would send it with what its next timer does, after 5 s.
    expect(performance.now() - end).toBeLessThan(4000);
  });

  it('sends what it was given, and nothing of its own', async () => {
    const exchange = ask(protocol, '/digest/a/../%2e|b?q="x"&y', {
      headers: [
        ['X-Twice', 'one'],
        ['x-empty', ''],
        ['x-twice', 'two'],
        ['x-latin', 'grüße'],
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
        ['range', 'bytes=0-0'],
        ['accept-encoding', 'br'],
        ['Connection', 'keep-alive, X-Hop'],
        ['keep-alive', 'timeout=5'],
        ['x-hop', 'of this connection'],
        ['proxy-authorization', 'Basic c2VjcmV0'],
        ['transfer-encoding', 'chunked'],
        ['upgrade', 'websocket'],
        ['te', 'trailers'],
        ['expect', '100-continue'],
        ['host', 'elsewhere.example'],
      ],
    });
    const { headers, target, method } = await digestOf(exchange);
    expect(method).toBe('GET');
    expect(target).toBe('/digest/a/../%2e|b?q="x"&y');
    expect(headers).toEqual({
      'X-Twice': ['one', 'two'],
      'X-Empty': [''],
      'X-Latin': [Buffer.from('grüße', 'latin1').toString()],
      Cookie: [expect.stringMatching(/^a=1; b=2$/)],
      Range: ['bytes=0-0'],
      'Accept-Encoding': ['br'],
      ...(protocol === 'h1' ? {} : { Te: ['trailers'] }),
    });
    const [seen] = await server.seen(1);
    expect(seen!.host).toBe(`localhost:${server.port}`);
  });

  it('hands response headers on as they came, without those of the connection', async () => {
    const { headers } = await ask(protocol, '/cookies').head;
    const named = headers.map(([name, value]) => [name.toLowerCase(), value]);
    expect(named.filter(([name]) => name === 'set-cookie').map(([, value]) => value)).toEqual([
      'c=3',
      'a=1; Path=/',
      'b=2',
    ]);
    expect(named).toContainEqual(['x-latin', 'grüße']);
    expect(named).toContainEqual(['x-empty', '']);
    if (protocol === 'h1') expect(named.map(([name]) => name)).not.toContain('x-hop');
    expect(named.map(([name]) => name)).not.toContain('connection');
  });

  it('hands 103 (Early Hints) on, one by one, before the response', async () => {
    const exchange = ask(protocol, '/early');
    const early: [number, string[]][] = [];
    exchange.onInformational = (status, headers) => {
      early.push([status, headers.filter(([name]) => /^link$/i.test(name)).map(([, value]) => value)]);
    };
    expect((await exchange.head).status).toBe(200);
    expect(early).toEqual([
      [103, ['</a.css>; rel=preload', '</b.js>; rel=preload']],
      [103, ['</c.png>; rel=preload']],
    ]);
    expect((await buffer(exchange.body)).toString()).toBe('late');
  });

  it('knows the responses that have no body', async () => {
    const head = ask(protocol, '/bytes/5000', { method: 'HEAD' });
    const { headers } = await head.head;
    expect(headers.find(([name]) => /^content-length$/i.test(name))?.[1]).toBe('5000');
    expect(await buffer(head.body)).toHaveLength(0);
    for (const status of [204, 304]) {
      const exchange = ask(protocol, `/status/${status}`);
      expect((await exchange.head).status).toBe(status);
      expect(await buffer(exchange.body)).toHaveLength(0);
    }
    const empty = ask(protocol, '/bytes/0');
    expect(await buffer(empty.body)).toHaveLength(0);
    expect(await empty.trailers).toEqual([]);
  });

  it('follows no redirect', async () => {
    expect((await ask(protocol, '/status/302').head).status).toBe(302);
    expect(await server.seen(1)).toHaveLength(1);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'])(
    'passes %s on, with no body and with an empty one',
    async (method) => {
      expect(await digestOf(ask(protocol, '/digest', { method }))).toMatchObject({ method, bytes: 0 });
      const empty = ask(protocol, '/digest', { method, headers: [['content-length', '0']] });
      expect(await digestOf(empty)).toMatchObject({ method, bytes: 0, length: 0 });
      const none = ask(protocol, '/digest', { method, body: Readable.from([]) });
      expect(await digestOf(none)).toMatchObject({ method, bytes: 0 });
    },
  );

  it('takes an answer that comes before the end of the upload', async () => {
    const body = new PassThrough();
    // More than the server would wait for.
    body.write(randomBytes(1_000_000));
    const exchange = ask(protocol, '/refuse', { method: 'POST', body });
    expect((await exchange.head).status).toBe(413);
    exchange.cancel();
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });

  it('lets go of an exchange that is cancelled, and keeps what carries others', async () => {
    const before = Number(await buffer(ask(protocol, '/cancelled').body));
    const [first] = await server.seen(1);
    const exchange = ask(protocol, '/silent');
    expect(
      String(
        await exchange.body[Symbol.asyncIterator]()
          .next()
          .then(({ value }) => value),
      ),
    ).toBe('a');
    exchange.cancel();
    const fault = await failure(exchange);
    expect(fault).toMatchObject({ code: 'reset', sent: true });
    await expect
      .poll(async () => Number(await buffer(ask(protocol, '/cancelled').body)), { timeout: 20_000 })
      .toBe(before + 1);
    const clients = new Set((await server.seen(2)).map(({ client }) => client));
    if (protocol !== 'h1') expect(clients).toEqual(new Set([first!.client]));
  });

  it('ends upstream when the source of the body fails', async () => {
    const body = new PassThrough();
    const exchange = ask(protocol, '/silent', { method: 'POST', body });
    body.write('a');
    await exchange.head;
    body.destroy(new Error('the browser has gone'));
    expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: true });
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });

  it('harms no download by cancelling uploads', async () => {
    const download = ask(protocol, '/trickle/50000');
    await download.head;
    for (let times = 0; times < 5; times += 1) {
      const body = new PassThrough();
      body.write(randomBytes(400_000));
      const upload = ask(protocol, '/silent', { method: 'POST', body });
      await upload.head;
      upload.cancel();
    }
    expect(await buffer(download.body)).toHaveLength(50_000);
  });

  it('reports a response that breaks off', async () => {
    const exchange = ask(protocol, '/cut/100000');
    expect((await exchange.head).status).toBe(200);
    await expect(buffer(exchange.body)).rejects.toMatchObject({ code: 'reset', sent: true });
    expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: true });
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });

  it('sends nothing to a server whose certificate it does not know', async () => {
    const other = await program.start();
    const exchange = ask(protocol, '/', { method: 'POST', url: other.url('/bytes/10', '127.0.0.1') });
    expect(await failure(exchange)).toMatchObject({ code: 'certificate', sent: false });
    expect(await other.seen()).toEqual([]);
    await other.stop();
  });

  it('sends nothing to a server of another name', async () => {
    const exchange = ask(protocol, '/', {
      url: 'https://wrong.example/bytes/10',
      connectTo: `wrong.example:443:127.0.0.1:${server.port}`,
    });
    expect(await failure(exchange)).toMatchObject({ code: 'certificate', sent: false });
    expect(await server.seen()).toEqual([]);
  });

  it('connects where it is told to', async () => {
    const exchange = ask(protocol, '/', {
      url: 'https://localhost/bytes/10',
      connectTo: `localhost:443:127.0.0.1:${server.port}`,
    });
    expect(await buffer(exchange.body)).toHaveLength(10);
    expect((await server.seen(1))[0]!.host).toBe('localhost');
  });

  it('says that nothing was sent where nobody listens', async () => {
    const exchange = ask(protocol, '/', { url: 'https://localhost:9/' });
    expect(await failure(exchange)).toMatchObject({ code: 'connect', sent: false });
    expect(exchange.sent).toBe(false);
  });
});

describe.each(['h2', 'h3'] as const)('%s', (protocol) => {
  it('sends nothing to a server that does not speak it', async () => {
    const others = PROTOCOLS.filter((other) => other !== protocol);
    const other = await program.start('-protocols', others.join(','));
    const own = await engineTrusting(other);
    const exchange = own.exchange({ protocol, method: 'POST', url: other.url('/'), headers: [], body: null });
    const code = protocol === 'h2' ? 'protocol' : 'connect';
    expect(await failure(exchange)).toMatchObject({ code, sent: false });
    expect(await other.seen()).toEqual([]);
    await own.close();
    await other.stop();
  });
});

describe('what cannot be sent as it is', () => {
  it.each<[string, Partial<ExchangeRequest>]>([
    ['a method that is none', { method: 'GE T' }],
    ['CONNECT', { method: 'CONNECT' }],
    ['another scheme', { url: 'http://localhost/' }],
    ['a user in the URL', { url: 'https://user@localhost/' }],
    ['a line break in the URL', { url: 'https://localhost/a\r\nb' }],
    ['a line break in a value', { headers: [['x-a', 'b\r\nx-c: d']] }],
    ['a pseudo-header', { headers: [[':authority', 'a.example']] }],
    ['a name with a space', { headers: [['x a', 'b']] }],
    [
      'two lengths',
      {
        headers: [
          ['content-length', '1'],
          ['content-length', '2'],
        ],
      },
    ],
    ['a length without a body', { headers: [['content-length', '1']] }],
    ['a header larger than any server takes', { headers: [['x-a', 'b'.repeat(3_000_000)]] }],
  ])('refuses %s', async (_name, more) => {
    const exchange = ask('h2', '/bytes/10', more);
    expect(await failure(exchange)).toMatchObject({ code: 'refused-locally', sent: false });
    expect(await server.seen()).toEqual([]);
  });
});

describe('a connection that the server has closed', () => {
  it('does not carry a POST twice', async () => {
    await buffer(ask('h1', '/once', { connectTo: `localhost:${server.port}:127.0.0.1:${server.port}` }).body);
    await server.seen(1);
    const second = ask('h1', '/once', {
      method: 'POST',
      connectTo: `localhost:${server.port}:127.0.0.1:${server.port}`,
    });
    expect(await failure(second)).toMatchObject({ code: 'reset', sent: true });
    expect(await server.seen(1)).toHaveLength(1);
  });

  it('is replaced for a GET', async () => {
    const connectTo = `localhost:${server.port}:127.0.0.1:${server.port}`;
    await buffer(ask('h1', '/once', { connectTo }).body);
    const second = ask('h1', '/once', { connectTo });
    expect((await second.head).status).toBe(200);
    expect(await server.seen(3)).toHaveLength(3);
  });
});

describe.each(['h2', 'h3'] as const)('%s', (protocol) => {
  it('gets POSTs to a server that takes few at once, and doubles none', async () => {
    const few = await program.start('-max-streams', '3');
    const own = await engineTrusting(few);
    const posts = Array.from({ length: 50 }, (_, index) =>
      own.exchange({
        protocol,
        method: 'POST',
        url: few.url(`/digest?delay=20&${index}`, '127.0.0.1'),
        headers: [],
        body: Readable.from([Buffer.from('abc')]),
      }),
    );
    const failed = (await Promise.allSettled(posts.map(digestOf))).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as ExchangeError] : [],
    );
    // One that may have arrived is not sent again: rarely a connection is given up in that moment.
    expect(failed.length).toBeLessThan(3);
    for (const fault of failed) expect(fault).toMatchObject({ code: 'reset', sent: true });
    const paths = (await few.seen(50 - failed.length)).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.length).toBeGreaterThanOrEqual(50 - failed.length);
    await own.close();
    await few.stop();
  });
});

it('tells of a server that wants a certificate', async () => {
  const strict = await program.start('-client-certificates');
  const own = await engineTrusting(strict);
  const url = strict.url('/bytes/10', '127.0.0.1');
  // The server says so after the handshake, and may have closed the connection before it is heard.
  await expect
    .poll(async () => {
      const exchange = own.exchange({ protocol: 'h2', method: 'GET', url, headers: [], body: null });
      return (await failure(exchange)).code;
    })
    .toBe('certificate');
  expect(await strict.seen()).toEqual([]);
  await own.close();
  await strict.stop();
});

describe('an HTTP/1.1 server of any kind', () => {
  const answer = (text: string): Exchange =>
    ask('h1', `/raw?answer=${encodeURIComponent(Buffer.from(text, 'latin1').toString('base64url'))}`);

  it('has its header lines kept in order, folded ones unfolded', async () => {
    const exchange = answer(
      'HTTP/1.1 200 Fine\r\nb: 1\r\nA:  2 \r\nb: 3\r\nfolded: one\r\n  two\r\nEmpty:\r\n\r\nto the end',
    );
    expect((await exchange.head).headers).toEqual([
      ['b', '1'],
      ['A', '2'],
      ['b', '3'],
      ['folded', 'one two'],
      ['Empty', ''],
    ]);
    expect((await buffer(exchange.body)).toString()).toBe('to the end');
  });

  it('has its length left out where it frames the body in chunks', async () => {
    const exchange = answer(
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx-t: 1\r\n\r\n',
    );
    expect((await exchange.head).headers).toEqual([]);
    expect((await buffer(exchange.body)).toString()).toBe('ab');
    expect(await exchange.trailers).toEqual([['x-t', '1']]);
  });

  it.each([
    ['nothing', '', 'reset'],
    ['noise', '\0\x01\x02\x03 no HTTP at all', 'protocol'],
    ['half a header', 'HTTP/1.1 200 OK\r\nconte', 'reset'],
    ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345', 'reset'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12', 'protocol'],
    ['broken chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'reset'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(5000)}\r\n`.repeat(9)}`, 'reset'],
  ])('that sends %s is reported', async (_name, text, code) => {
    const exchange = answer(text);
    const fault = await failure(exchange);
    expect(fault.code).toBe(code);
    expect(fault.sent).toBe(true);
  });
});

describe('the process', () => {
  it('ends on frames that are none, and says why', async () => {
    const info = await engine.start();
    const child = fork(fileURLToPath(new URL('../src/engine/child.ts', import.meta.url)), [info.path, ''], {
      execArgv: ['--conditions=source'],
      env: { ...process.env, LD_LIBRARY_PATH: isAbsolute(info.path) ? dirname(info.path) : '' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe', 'pipe'],
    });
    const messages: ChildMessage[] = [];
    child.on('message', (message: ChildMessage) => messages.push(message));
    await expect.poll(() => messages.map(({ type }) => type), { timeout: 20_000 }).toEqual(['ready']);
    const pipes: readonly unknown[] = child.stdio;
    (pipes[EXCHANGE_PIPE] as Writable).on('error', () => {}).write(Buffer.alloc(100, 0xff));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
    expect(messages[1]).toEqual({ type: 'fault', problem: 'a frame of kind 255' });
  });

  it('may die in mid-body: what was sent is known, the next exchange gets a new process', async () => {
    const own = new Engine();
    await own.start();
    const pid = (await own.pid())!;
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const nowhere = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const request = { method: 'GET', headers: [], body: null };
    const sent = PROTOCOLS.map((protocol) =>
      own.exchange({ ...request, protocol, url: server.url('/silent') }),
    );
    for (const exchange of sent) await exchange.head;
    const unsent = own.exchange({ ...request, protocol: 'h2', url: nowhere });
    const fresh = own.exchange({ ...request, protocol: 'h2', url: server.url('/silent') });
    await server.seen(4);
    process.kill(pid, 'SIGKILL');
    for (const exchange of [...sent, fresh]) {
      expect(await failure(exchange)).toMatchObject({ code: 'engine-died', sent: true });
    }
    expect(await failure(unsent)).toMatchObject({ code: 'engine-died', sent: false });
    const next = own.exchange({ ...request, protocol: 'h2', url: server.url('/bytes/10') });
    expect(await buffer(next.body)).toHaveLength(10);
    expect(await own.pid()).not.toBe(pid);
    await own.close();
    silent.close();
  });

  it('that is no more fails its exchanges', async () => {
    const own = new Engine();
    const open = own.exchange({
      protocol: 'h2',
      method: 'GET',
      url: server.url('/silent'),
      headers: [],
      body: null,
    });
    await open.head;
    await own.close();
    expect(await failure(open)).toMatchObject({ code: 'engine-died', sent: true });
    const late = own.exchange({
      protocol: 'h2',
      method: 'GET',
      url: server.url('/'),
      headers: [],
      body: null,
    });
    expect(await failure(late)).toMatchObject({ code: 'engine-died', sent: false });
  });

  it('sends nothing of an exchange that was cancelled before it began', async () => {
    const own = new Engine();
    const early = own.exchange({
      protocol: 'h1',
      method: 'GET',
      url: server.url('/bytes/10'),
      headers: [],
      body: null,
    });
    early.cancel();
    expect(await failure(early)).toMatchObject({ sent: false });
    await own.start();
    expect(await server.seen()).toEqual([]);
    await own.close();
  });

  it('gives a reader up that stands in the way of another on HTTP/3', async () => {
    const stuck = ask('h3', '/random/200000000');
    const events = ask('h3', '/trickle/50000000');
    await Promise.all([stuck.head, events.head]);
    let came = 0;
    events.body.on('data', (chunk: Buffer) => {
      came += chunk.length;
    });
    expect(await failure(stuck)).toMatchObject({ code: 'reset', sent: true });
    const then = came;
    await expect.poll(() => came, { timeout: 20_000 }).toBeGreaterThan(then + 20_000);
    events.cancel();
  });

  it('holds 1,000 exchanges open', async () => {
    const grown = await growth(async () => {
      const open = Array.from({ length: 1000 }, (_, index) =>
        ask(PROTOCOLS[1 + (index % 2)]!, `/trickle/3000?${index}`),
      );
      const bodies = await Promise.all(open.map(({ body }) => buffer(body)));
      expect(bodies.every(({ length }) => length === 3000)).toBe(true);
    });
    expect(grown.engine).toBeLessThan(100 * MIB);
    expect(grown.host).toBeLessThan(100 * MIB);
  });
});

function* repeat(piece: Buffer, times: number, onPiece?: () => void): Generator<Buffer> {
  for (let done = 0; done < times; done += 1) {
    onPiece?.();
    yield piece;
  }
}
