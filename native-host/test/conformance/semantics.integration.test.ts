/** The meaning of HTTP (RFC 9110), case by case: through each pin a browser gets what it would get from the origin directly. */
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { type Answer, ask1, ask2 } from '../pins/terminating/support/pinned.ts';
import { PROTO } from '../support/server.ts';
import { MIB } from './support/cases.ts';
import { VERSIONS, type Version } from './support/hostile-browser.ts';
import { servePinned } from './support/serve-pinned.ts';

interface RequestedAnswer {
  status: number;
  fields?: [string, string][];
  body?: Buffer;
  trailers?: [string, string][];
}

interface Asked {
  path: string;
  method?: string;
  fields?: Record<string, string>;
  /** The protocol under which there is no such answer. */
  without?: Protocol;
}

const TEXT = Buffer.from('the same for all '.repeat(100));
const served = servePinned();

function pathOfAnswer({ status, fields = [], body, trailers = [] }: RequestedAnswer): string {
  const answer = { status, fields, body: body?.toString('base64url') ?? '', trailers };
  return `/says?answer=${Buffer.from(JSON.stringify(answer)).toString('base64url')}`;
}

function withLength(status: number, body: Buffer, ...fields: [string, string][]): string {
  return pathOfAnswer({ status, body, fields: [...fields, ['content-length', String(body.length)]] });
}

/** Statuses with a body; those of redirects lead elsewhere. */
const STATUSES = [
  200, 201, 202, 203, 206, 226, 300, 400, 401, 403, 404, 405, 410, 416, 421, 425, 429, 451, 500, 503, 599,
];
const REDIRECTS = [301, 302, 303, 307, 308];
const BODYLESS = [204, 205, 304];

const CASES: Record<string, Asked> = {
  ...Object.fromEntries(STATUSES.map((status) => [`status ${status}`, { path: withLength(status, TEXT) }])),
  ...Object.fromEntries(
    REDIRECTS.map((status) => [
      `redirect ${status}`,
      { path: withLength(status, TEXT, ['location', '/elsewhere?a=b'], ['cache-control', 'no-store']) },
    ]),
  ),
  ...Object.fromEntries(
    BODYLESS.map((status) => [
      `status ${status}`,
      { path: pathOfAnswer({ status, fields: [['etag', '"a"']] }) },
    ]),
  ),
  'HEAD with a length': { path: withLength(200, TEXT), method: 'HEAD' },
  'HEAD of what is not there': { path: withLength(404, TEXT), method: 'HEAD' },
  'an empty body': { path: pathOfAnswer({ status: 200, fields: [['content-length', '0']] }) },
  'a body without a length': { path: pathOfAnswer({ status: 200, body: TEXT }) },
  'the coding gzip': {
    path: withLength(200, gzipSync(TEXT), ['content-encoding', 'gzip'], ['vary', 'accept-encoding']),
  },
  'the coding br': { path: withLength(200, brotliCompressSync(TEXT), ['content-encoding', 'br']) },
  'the coding zstd': { path: withLength(200, zstdCompressSync(TEXT), ['content-encoding', 'zstd']) },
  'two codings': { path: withLength(200, gzipSync(gzipSync(TEXT)), ['content-encoding', 'gzip, gzip']) },
  'a coding that the body does not have': { path: withLength(200, TEXT, ['content-encoding', 'gzip']) },
  'a coding without a length': {
    path: pathOfAnswer({ status: 200, body: gzipSync(TEXT), fields: [['content-encoding', 'gzip']] }),
  },
  cookies: {
    path: withLength(
      200,
      TEXT,
      ['set-cookie', 'a=1; Path=/; Secure; HttpOnly; SameSite=None; Partitioned'],
      ['set-cookie', 'b="2, 3"; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
      ['set-cookie', 'a=4'],
    ),
  },
  'fields that repeat': {
    path: withLength(
      200,
      TEXT,
      ['vary', 'a'],
      ['vary', 'b'],
      ['x-odd', '1'],
      ['x-odd', '2'],
      ['x-odd', '1'],
      ['x-empty', ''],
    ),
  },
  'a field of 30 kB': {
    path: withLength(200, TEXT, [
      'content-security-policy',
      `default-src ${'https://a.test '.repeat(2000)}`.trim(),
    ]),
  },
  'fields of security and caches': {
    path: withLength(
      200,
      TEXT,
      ['strict-transport-security', 'max-age=31536000; includeSubDomains'],
      ['access-control-allow-origin', '*'],
      ['timing-allow-origin', '*'],
      ['age', '50'],
      ['expires', '0'],
      ['server-timing', 'db;dur=53, app;dur=47.2'],
      ['content-disposition', "attachment; filename*=UTF-8''%e2%82%ac.txt"],
      ['link', '</a.css>; rel=preload; as=style'],
    ),
  },
  trailers: {
    path: pathOfAnswer({
      status: 200,
      body: TEXT,
      trailers: [
        ['x-checksum', 'abc'],
        ['server-timing', 'a;dur=1'],
      ],
    }),
  },
  'early hints': { path: '/early' },
  'a range': { path: '/file/50000', fields: { range: 'bytes=100-199' } },
  'the last bytes': { path: '/file/50000', fields: { range: 'bytes=-99' } },
  'a range of nothing': { path: '/file/50000', fields: { range: 'bytes=60000-' } },
  'server-sent events': { path: '/trickle/5000', fields: { accept: 'text/event-stream' } },
  'a body that breaks off': { path: '/cut/50000' },
  'a stream that is reset': { path: '/abort' },
  // Over HTTP/3 Go would send `Connection`, which is malformed there (RFC 9114 section 4.2).
  'the end of the connection after the answer': { path: '/goaway', without: 'h3' },
  'bytes from all of the alphabet': {
    path: withLength(200, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
  },
  'a POST that is answered by 303': { path: withLength(303, TEXT, ['location', '/done']), method: 'POST' },
  'a preflight': {
    path: pathOfAnswer({
      status: 204,
      fields: [
        ['access-control-allow-methods', 'PUT, DELETE'],
        ['access-control-max-age', '600'],
      ],
    }),
    method: 'OPTIONS',
    fields: { origin: 'https://a.test', 'access-control-request-method': 'PUT' },
  },
};

const DRAWN = drawShare(Object.entries(CASES), 20, ([name]) => name);

/** A connection of a browser over one HTTP version, new ones where the last has ended. */
class Browser {
  readonly #version: Version;
  readonly #open: (alpn: 'h2' | 'http/1.1') => Promise<TLSSocket>;
  #socket: TLSSocket | null = null;
  #session: ClientHttp2Session | null = null;

  constructor(version: Version, open: (alpn: 'h2' | 'http/1.1') => Promise<TLSSocket>) {
    this.#version = version;
    this.#open = open;
  }

  /** @returns null for an answer that is broken */
  async ask({ path, method = 'GET', fields = {} }: Asked): Promise<Answer | null> {
    const { port } = served.server;
    if (this.#version === 'h1') {
      if (!this.#socket || this.#socket.destroyed || !this.#socket.writable)
        this.#socket = await this.#open('http/1.1');
      const headers = { host: `localhost:${port}`, ...fields };
      const answer = await ask1(this.#socket, { path, method, headers, maxHeaderSize: MIB }).catch(
        () => null,
      );
      if (!answer) this.#socket.destroy();
      return answer;
    }
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      const socket = await this.#open('h2');
      this.#session = connectHttp2(`https://localhost:${port}`, { createConnection: () => socket });
      this.#session.on('error', () => {});
    }
    return ask2(this.#session, { ':path': path, ':method': method, ...fields }).catch(() => null);
  }

  close(): void {
    this.#socket?.destroy();
    this.#session?.destroy();
  }
}

async function openDirectly(alpn: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const { server, pinned } = served;
  const socket = connect({
    port: server.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: pinned.roots,
    ALPNProtocols: [alpn],
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return socket;
}

/** Fields of one connection; Go announces trailers over some versions only. */
const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer']);

/** What pages can see of an answer: fields in any order of names, as browsers hold them. */
function visible(answer: Answer | null): unknown {
  if (!answer) return 'broken';
  const { status, headers, body, trailers, informational } = answer;
  // Go adds one of its own over HTTP/3 alone.
  const left = status === 304 ? new Set([...OF_A_CONNECTION, 'content-length']) : OF_A_CONNECTION;
  const fields = headers
    .map(([name, value]) => [name.toLowerCase(), name.toLowerCase() === 'date' ? 'a date' : value] as const)
    .filter(([name]) => !left.has(name));
  const named = Object.fromEntries(
    [...new Set(fields.map(([name]) => name))]
      .sort()
      .map((name) => [name, fields.filter((field) => field[0] === name).map((field) => field[1])]),
  );
  return { status, named, body: body.toString('base64'), trailers, informational };
}

describe.each(VERSIONS)('to a browser that speaks %s', (version) => {
  const direct = new Browser(version, openDirectly);
  const answers = new Map<string, unknown>();

  beforeAll(async () => {
    for (const [name, asked] of DRAWN) answers.set(name, visible(await direct.ask(asked)));
  });

  afterAll(() => direct.close());

  describe.each(PROTOCOLS)('pinned to %s', (protocol: Protocol) => {
    const browser = new Browser(version, (alpn) => served.pinned.connect(served.server.port, alpn));

    beforeAll(async () => {
      await served.pinned.pin(served.server.port, protocol);
      await served.server.seen();
      served.pinned.lifted.length = 0;
    });

    afterAll(() => browser.close());

    it.each(DRAWN.filter(([, { without }]) => without !== protocol))('%s', async (name, asked) => {
      expect(visible(await browser.ask(asked))).toEqual(answers.get(name));
      const seen = await served.server.seen(1, (path) => path.startsWith(asked.path));
      expect(new Set(seen.map(({ proto }) => proto))).toContain(PROTO[protocol]);
      expect(served.pinned.lifted).toEqual([]);
    });
  });
});
