/** What a terminated request and its response keep, whichever protocols carry them. */
import { createHash, randomBytes } from 'node:crypto';
import { type ClientHttp2Session, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROTO, type Server } from '../../support/server.ts';
import { until } from '../proxy/support/peers.ts';
import { type Answer, answer2, ask1, ask2, isTerminated, type Pinned } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

let served: ServedPins;
let server: Server;
let pinned: Pinned;

beforeAll(async () => {
  served = await servePins();
  ({ server, pinned } = served);
});

afterAll(() => served.stop());

interface Ask {
  method?: string;
  headers?: [string, string | string[]][];
  body?: Buffer;
}

/** A browser that speaks one HTTP version. */
interface Browser {
  socket: TLSSocket;
  ask(path: string, more?: Ask): Promise<Answer>;
}

async function browser(version: 'h1' | 'h2'): Promise<Browser> {
  if (version === 'h2') {
    const session = await pinned.http2(server.port);
    return {
      socket: session.socket as TLSSocket,
      ask: (path, { method = 'GET', headers = [], body } = {}) =>
        ask2(session, { ...Object.fromEntries(headers), ':path': path, ':method': method }, body),
    };
  }
  const socket = await pinned.connect(server.port, 'http/1.1');
  return {
    socket,
    ask: (path, { method = 'GET', headers = [], body } = {}) => {
      const raw = headers.flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
      const length = body ? ['content-length', String(body.length)] : [];
      const options = { path, method, headers: ['Host', `localhost:${server.port}`, ...length, ...raw] };
      return ask1(socket, options, body);
    },
  };
}

function digestOf({ body }: Answer): { headers: Record<string, string[]>; [name: string]: unknown } {
  return JSON.parse(body.toString());
}

describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
  beforeAll(async () => {
    await pinned.pin(server.port, protocol);
  });

  beforeEach(async () => {
    await server.seen();
  });

  describe.each(['h1', 'h2'] as const)('from a browser that speaks %s', (version) => {
    let one: Browser;

    beforeAll(async () => {
      one = await browser(version);
    });

    afterAll(() => {
      one.socket.destroy();
    });

    it('is terminated, and reaches the origin under the pinned protocol', async () => {
      expect(isTerminated(one.socket)).toBe(true);
      expect(await one.ask('/bytes/5000')).toMatchObject({ status: 200, body: { length: 5000 } });
      expect((await server.seen(1)).map(({ proto }) => proto)).toEqual([PROTO[protocol]]);
    });

    it('keeps the request’s fields, without those of the connection', async () => {
      const headers: Ask['headers'] = [
        ['x-twice', ['one', 'two']],
        ['x-empty', ''],
        ['x-latin', 'gr\u00fc\u00dfe'],
        ['range', 'bytes=0-0'],
        ['accept-encoding', 'br'],
        ['priority', 'u=1, i'],
        ['te', 'trailers'],
        ['cookie', version === 'h2' ? ['a=1', 'b=2'] : 'a=1; b=2'],
      ];
      if (version === 'h1') headers.push(['Connection', 'keep-alive, X-Hop'], ['X-Hop', 'of this hop']);
      const answer = digestOf(await one.ask('/digest/a/../%2e|b?q="x"&y', { headers }));
      expect(answer.target).toBe('/digest/a/../%2e|b?q="x"&y');
      expect(answer.headers).toEqual({
        'X-Twice': ['one', 'two'],
        'X-Empty': [''],
        'X-Latin': [Buffer.from('gr\u00fc\u00dfe', 'latin1').toString()],
        Range: ['bytes=0-0'],
        'Accept-Encoding': ['br'],
        Priority: ['u=1, i'],
        Cookie: ['a=1; b=2'],
        ...(protocol === 'h1' ? {} : { Te: ['trailers'] }),
      });
    });

    it('keeps the response’s fields, without those of the connection', async () => {
      const { headers } = await one.ask('/cookies');
      const named = headers.map(([name, value]) => [name.toLowerCase(), value]);
      const cookies = named.filter(([name]) => name === 'set-cookie');
      expect(cookies.map(([, value]) => value)).toEqual(['c=3', 'a=1; Path=/', 'b=2']);
      expect(named).toContainEqual(['x-latin', 'gr\u00fc\u00dfe']);
      expect(named).toContainEqual(['x-empty', '']);
      expect(named).toContainEqual(['strict-transport-security', 'max-age=60; includeSubDomains']);
      expect(named).toContainEqual(['alt-svc', `h3=":${server.port}"; ma=60`]);
      expect(named.map(([name]) => name)).not.toContain('x-hop');
      expect(named.filter(([name]) => name === 'date')).toHaveLength(1);
    });

    it('carries bodies and trailers', async () => {
      const { body, trailers } = await one.ask('/random/300000');
      const digest = createHash('sha256').update(body).digest('hex');
      expect(body).toHaveLength(300_000);
      expect(trailers).toEqual({ 'x-digest': digest });
    });

    it('hands 103 (Early Hints) on', async () => {
      const { informational, body } = await one.ask('/early');
      const links = ['</a.css>; rel=preload, </b.js>; rel=preload', '</c.png>; rel=preload'];
      expect(informational).toEqual(links.map((link) => ({ status: 103, link })));
      expect(body.toString()).toBe('late');
    });

    it('knows the responses that have no body', async () => {
      const head = await one.ask('/bytes/5000', { method: 'HEAD' });
      expect(head.headers.find(([name]) => /^content-length$/i.test(name))?.[1]).toBe('5000');
      expect(head.body).toHaveLength(0);
      for (const status of [204, 206, 302, 304, 404, 503]) {
        expect(await one.ask(`/status/${status}`)).toMatchObject({ status, body: { length: 0 } });
      }
      expect(await one.ask('/bytes/0')).toMatchObject({ status: 200, body: { length: 0 } });
    });

    it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
      'passes %s on, with and without a body',
      async (method) => {
        const body = randomBytes(200_000);
        const digest = createHash('sha256').update(body).digest('hex');
        const answer = digestOf(await one.ask('/digest', { method, body }));
        expect(answer).toMatchObject({ method, bytes: body.length, digest });
        expect(digestOf(await one.ask('/digest', { method }))).toMatchObject({ method, bytes: 0 });
      },
    );

    it('breaks off where the origin does', async () => {
      const other = await browser(version);
      await expect(other.ask('/cut/100000')).rejects.toThrow();
      other.socket.destroy();
      expect(await (await browser(version)).ask('/bytes/10')).toMatchObject({ status: 200 });
    });

    it('answers for the pinned host alone', async () => {
      const other = await browser(version);
      const name = version === 'h2' ? ':authority' : 'Host';
      for (const host of ['other.example', `localhost:${server.port + 1}`, 'localhost']) {
        const answer =
          version === 'h2'
            ? await other.ask('/', { headers: [[name, host]] })
            : await ask1(other.socket, { path: '/', headers: [name, host] });
        expect(answer.status).toBe(421);
      }
      other.socket.destroy();
      expect(await server.seen()).toEqual([]);
    });
  });

  it('hands on what comes as it comes, and ends upstream when the browser goes', async () => {
    const session = await pinned.http2(server.port);
    const before = Number((await ask2(session, { ':path': '/cancelled' })).body);
    const stream = session.request({ ':path': '/silent' });
    const [first] = await new Promise<Buffer[]>((resolve) => {
      stream.once('data', (chunk: Buffer) => resolve([chunk]));
    });
    expect(String(first)).toBe('a');
    stream.close(constants.NGHTTP2_CANCEL);
    let cancelled = before;
    await expect
      .poll(
        async () => {
          cancelled = Number((await ask2(session, { ':path': '/cancelled' })).body);
          return cancelled;
        },
        { timeout: 60_000 },
      )
      .toBe(before + 1);
    session.destroy();
  });

  it('streams in both directions at once', async () => {
    const session = await pinned.http2(server.port);
    const stream = session.request({ ':path': '/echo', ':method': 'POST' }, { endStream: false });
    const back = stream[Symbol.asyncIterator]();
    for (const words of ['one', 'two', 'three']) {
      stream.write(words);
      expect(String((await back.next()).value)).toBe(words);
    }
    stream.end();
    expect((await back.next()).done).toBe(true);
    session.destroy();
  });

  it('takes an answer that comes before the end of the upload', async () => {
    const session = await pinned.http2(server.port);
    const stream = session.request({ ':path': '/refuse', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => {}).write(randomBytes(1_000_000));
    const status = await new Promise((resolve) => {
      stream.once('response', (headers) => resolve(headers[':status']));
    });
    expect(status).toBe(413);
    stream.resume();
    await until(() => stream.closed);
    expect((await ask2(session, { ':path': '/bytes/10' })).body).toHaveLength(10);
    session.destroy();
  });

  it('leaves trailers of requests out, and passes on what was before them', async () => {
    const session = await pinned.http2(server.port);
    const stream = session.request(
      { ':path': '/digest', ':method': 'POST' },
      { endStream: false, waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-checksum': 'abc' }));
    const answer = answer2(stream);
    stream.end('abc');
    const { bytes, whole, trailer } = JSON.parse((await answer).body.toString());
    expect({ bytes, whole, trailer }).toEqual({ bytes: 3, whole: true, trailer: null });
    session.destroy();
  });

  it('carries 200 requests at once', async () => {
    const session: ClientHttp2Session = await pinned.http2(server.port);
    const sizes = Array.from({ length: 200 }, (_, index) => (index % 10) * 30_011 + index);
    await Promise.all(
      sizes.map(async (size) => {
        const { body, trailers } = await ask2(session, { ':path': `/random/${size}` });
        expect(body).toHaveLength(size);
        expect(trailers).toEqual({ 'x-digest': createHash('sha256').update(body).digest('hex') });
      }),
    );
    session.destroy();
  });
});

it('shows its certificate for the pinned name alone', async () => {
  await pinned.pin(server.port, 'h2');
  for (const name of ['other.example', '']) {
    await expect(pinned.connect(server.port, 'h2', name)).rejects.toThrow();
  }
});
