/** Malformed and ambiguous requests over HTTP/1.1: none reaches the origin as something that the browser did not ask for. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hear } from '../pins/proxy/support/peers.ts';
import type { Pinned } from '../pins/terminating/support/pinned.ts';
import type { Server } from '../support/server.ts';
import { servePinned } from './support/serve-pinned.ts';

const served = servePinned();
let server: Server;
let pinned: Pinned;

beforeAll(async () => {
  ({ server, pinned } = served);
  await pinned.pin(server.port, 'h1');
  await server.seen(1);
});

/** Sends bytes on a connection of their own, in which HOST stands for the origin, and hears what comes. */
async function send(request: string, port: number = server.port): Promise<string> {
  const socket = await pinned.connect(port, 'http/1.1');
  const heard = hear(socket);
  socket.write(request.replaceAll('HOST', `localhost:${port}`), 'latin1');
  const { bytes } = await heard;
  return bytes.toString('latin1');
}

const LAST = 'GET /status/204 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n';
/** Paths of such requests that followed one which was answered: they may reach the origin later than what is sent on another connection. */
const followed = new Set<string>();
/** What an attacker would have the origin take for a request. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n';

function post(fields: string, body: string): string {
  return `POST /digest HTTP/1.1\r\nHost: HOST\r\n${fields}\r\n\r\n${body}`;
}

describe('a request with', () => {
  const chunked = 'Transfer-Encoding: chunked';
  const chunks = '5\r\nhello\r\n0\r\n\r\n';
  it.each<[string, string]>([
    ['a length and chunks', post(`Content-Length: 5\r\n${chunked}`, chunks + SMUGGLED)],
    ['chunks and a length', post(`${chunked}\r\nContent-Length: 5`, chunks + SMUGGLED)],
    ['two lengths', post('Content-Length: 5\r\nContent-Length: 6', `hello${SMUGGLED}`)],
    ['one length twice', post('Content-Length: 5\r\nContent-Length: 5', `hello${SMUGGLED}`)],
    ['a list of lengths', post('Content-Length: 5, 5', `hello${SMUGGLED}`)],
    ['a signed length', post('Content-Length: +5', `hello${SMUGGLED}`)],
    ['a negative length', post('Content-Length: -5', `hello${SMUGGLED}`)],
    ['an empty length', post('Content-Length:', `hello${SMUGGLED}`)],
    ['a length in hexadecimal', post('Content-Length: 0x5', `hello${SMUGGLED}`)],
    ['a length of more than 64 bits', post('Content-Length: 18446744073709551621', `hello${SMUGGLED}`)],
    ['a length with a space in it', post('Content-Length: 5 5', `hello${SMUGGLED}`)],
    ['an unknown coding', post('Transfer-Encoding: xchunked', chunks + SMUGGLED)],
    ['chunks that are coded', post('Transfer-Encoding: chunked, identity', chunks + SMUGGLED)],
    ['a coding in two lines', post(`${chunked}\r\nTransfer-Encoding: identity`, chunks + SMUGGLED)],
    ['a vertical tab in its coding', post('Transfer-Encoding: \vchunked', chunks + SMUGGLED)],
    ['a folded field', post('X-A: b\r\n Content-Length: 5', `hello${SMUGGLED}`)],
    ['a folded coding', post('Transfer-Encoding:\r\n chunked', chunks + SMUGGLED)],
    ['a space before the colon', post('Content-Length : 5', `hello${SMUGGLED}`)],
    ['a space before the first field', ` ${post('', '')}`],
    ['a field without a name', post(': b', '')],
    ['a field without a colon', post('Content-Length', `hello${SMUGGLED}`)],
    ['a name that is none', post('Content\x80Length: 5', `hello${SMUGGLED}`)],
    ['NUL in a value', post('X-A: b\0c', '')],
    ['CR in a value', post('X-A: b\rContent-Length: 5', `hello${SMUGGLED}`)],
    ['LF alone after a field', post(`X-A: b\n${chunked}`, chunks + SMUGGLED)],
    ['LF alone everywhere', LAST.replaceAll('\r', '')],
    ['CR alone everywhere', LAST.replaceAll('\n', '')],
    ['no Host', 'GET /bytes/1 HTTP/1.1\r\n\r\n'],
    ['another version', 'GET /bytes/1 HTTP/2.5\r\nHost: HOST\r\n\r\n'],
    ['no version', 'GET /bytes/1\r\n\r\n'],
    ['a space in its target', 'GET /bytes/1 /2 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['bytes in its target', 'GET /bytes/1\xff\x01 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['a method that is none', 'G@T /bytes/1 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    [
      'a head without end',
      `GET /bytes/1 HTTP/1.1\r\nHost: HOST\r\n${'X-A: bbbbbbbbbbbbbbbb\r\n'.repeat(20_000)}`,
    ],
    ['a field without end', `GET /bytes/1 HTTP/1.1\r\nHost: HOST\r\nX-A: ${'b'.repeat(400_000)}`],
    ['two hosts', 'GET /bytes/1 HTTP/1.1\r\nHost: HOST\r\nHost: a.example\r\n\r\n'],
    ['another scheme', 'GET http://HOST/bytes/1 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['another host in its target', 'GET https://a.example/bytes/1 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['a user in its target', 'GET https://user@HOST/bytes/1 HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['no path', 'OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['a coding beside chunks', post('Transfer-Encoding: gzip, chunked', chunks)],
  ])('%s is not passed on', async (_name, request) => {
    const next = `/status/204?${followed.size}`;
    const answer = await send(request + LAST.replace('/status/204', next));
    expect(answer).toMatch(/^(HTTP\/1\.1 (400|421|501) |$)/);
    // What follows a request that is answered here is one by itself.
    if (answer !== '') followed.add(next);
    expect(await others()).toSatisfy((paths: string[]) => paths.every((path) => followed.has(path)));
  });

  it.each<[string, string]>([
    ['a chunk of a negative size', post(chunked, `-5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
    [
      'a chunk size of more than 64 bits',
      post(chunked, `10000000000000005\r\nhello\r\n0\r\n\r\n${SMUGGLED}`),
    ],
    ['a chunk size in C', post(chunked, `0x5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
    ['a chunk without its end', post(chunked, `5\r\nhello0\r\n\r\n${SMUGGLED}`)],
    ['a chunk that LF ends', post(chunked, `5\r\nhello\n0\r\n\r\n${SMUGGLED}`)],
    ['a chunk size that LF ends', post(chunked, `5\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
    ['an extension that LF ends', post(chunked, `5;a=b\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
    ['extensions without end', post(chunked, `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
  ])('%s is broken off', async (_name, request) => {
    const requests: string[] = [];
    const origin = await pinned.origin((upload, response) => {
      if (upload.method === 'HEAD') return void response.end();
      // Its head is on the way before what is wrong with it comes.
      const seen = `${upload.method} ${upload.url}`;
      upload.on('close', () => requests.push(upload.complete ? `${seen}, whole` : seen)).resume();
    });
    await pinned.pin(origin.port, 'h1');
    requests.length = 0;
    expect(await send(request + LAST, origin.port)).toBe('');
    pinned.terminating.unpin('localhost', origin.port);
    await new Promise((resolve) => origin.server.close(resolve).closeIdleConnections());
    expect(requests).toSatisfy((all: string[]) => all.every((one) => one === 'POST /digest'));
  });

  it.each<[string, string, { target?: string; bytes?: number }]>([
    ['the absolute form', LAST.replace('/status/204', 'https://HOST/digest?a'), { target: '/digest?a' }],
    ['a body and a length', post('Connection: close\r\nContent-Length: 5', 'hello'), { bytes: 5 }],
    ['chunks', post(`Connection: close\r\n${chunked}`, chunks), { bytes: 5 }],
    [
      'chunk extensions',
      post(`Connection: close\r\n${chunked}`, `5;a="b;c"${chunks.slice(1)}`),
      { bytes: 5 },
    ],
    ['trailers', post(`Connection: close\r\n${chunked}`, '5\r\nhello\r\n0\r\nX-A: b\r\n\r\n'), { bytes: 5 }],
    ['HTTP/1.0', 'GET /digest HTTP/1.0\r\nHost: HOST\r\n\r\n', {}],
    ['empty lines before it', `\r\n\r\n${LAST.replace('/status/204', '/digest')}`, {}],
  ])('%s is passed on', async (_name, request, expected) => {
    const [head, body] = (await send(request)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    const json = /\{.*\}/.exec(body!)![0];
    expect(JSON.parse(json)).toMatchObject({ bytes: 0, target: '/digest', ...expected });
  });

  it('a head as long as Chromium’s longest is passed on', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `X-${index}: ${'a'.repeat(60)}`);
    const answer = await send(post(`Connection: close\r\nContent-Length: 0\r\n${lines.join('\r\n')}`, ''));
    // A chunk may end within a name.
    const joined = answer.replaceAll(/\r\n[\da-f]+\r\n/g, '');
    expect(joined.match(/"X-\d+"/g)).toHaveLength(lines.length);
  });
});

it('requests sent at once are answered in their order', async () => {
  const paths = ['/bytes/3?delay=50', '/status/404', '/bytes/5', '/status/204'];
  const heads = (
    await send(
      paths.map((path) => LAST.replace('/status/204', path).replace(': close', ': keep-alive')).join('') +
        LAST,
    )
  ).match(/HTTP\/1\.1 \d+/g);
  expect(heads).toEqual([200, 404, 200, 204, 204].map((status) => `HTTP/1.1 ${status}`));
});

let calls = 0;

/** The paths of the requests that have reached the origin since the last call. */
async function others(): Promise<string[]> {
  const last = `/bytes/0?${calls++}`;
  const { body } = pinned.engine.exchange({
    protocol: 'h1',
    method: 'GET',
    url: server.url(last),
    headers: [],
    body: null,
  });
  body.resume();
  const paths: string[] = [];
  while (!paths.includes(last)) paths.push(...(await server.seen(1)).map(({ path }) => path));
  return paths.filter((path) => path !== last);
}
