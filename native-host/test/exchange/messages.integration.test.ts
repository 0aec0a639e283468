/** What requests and responses keep on their way. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PROTOCOLS } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import type { Exchange, ExchangeRequest } from '../../src/exchange/exchange.ts';
import { serveEngine } from '../support/engine.ts';
import { asking, digestOf, failure } from './support/exchanges.ts';

const served = serveEngine();
const ask = asking(served);

describe.each(PROTOCOLS)('%s', (protocol) => {
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
    const [seen] = await served.server.seen(1);
    expect(seen!.host).toBe(`localhost:${served.server.port}`);
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
    const { status, headers } = await ask(protocol, '/status/302').head;
    expect(status).toBe(302);
    const to = headers.find(([name]) => /^location$/i.test(name))![1];
    // Later frames would be reported before the next exchange.
    await buffer(ask(protocol, '/bytes/10?after').body);
    const seen = await served.server.seen(
      2,
      (path) => path === '/bytes/10?after' || path.includes('/status/302'),
    );
    expect(seen.map(({ path }) => path)).toEqual(['/status/302', '/bytes/10?after']);
    expect(to).toBe('/status/200?from=/status/302');
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
    expect(await served.server.seen()).toEqual([]);
  });
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
