import { runInNewContext } from 'node:vm';
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { determinismScript } from '../../src/browser/determinism.ts';
import type { Load } from '../../src/loads/measuring-browser.ts';
import type { Captured, CapturedAnswer } from '../../src/record/captured.ts';
import { encodeAs } from '../../src/record/encode.ts';
import { keptHeaders } from '../../src/record/headers.ts';
import { type RecordedPageOptions, recordedPage } from '../../src/record/recorded-page.ts';
import { compareRequests } from '../../src/replay/check-replay.ts';
import { missesOf } from '../../src/replay/misses.ts';
import { siteSchema } from '../../src/sites/site.ts';
import { recordOptionsOf } from '../support/record-options.ts';

const TEXT = Buffer.from(Array.from({ length: 3000 }, (_, i) => `line ${i} of ${(i * i) % 97}\n`).join(''));

describe('bodies', () => {
  it.each([
    ['gzip', zlib.gunzipSync],
    ['br', zlib.brotliDecompressSync],
  ] as const)(
    'are compressed again by %s, at the level nearest to the recorded size',
    async (coding, decode) => {
      const sizes: number[] = [];
      for (const wanted of [1, 9000, 10_000, 1e9]) {
        const encoded = await encodeAs(TEXT, coding, wanted);
        expect(encoded.coding).toBe(coding);
        expect(decode(encoded.body).equals(TEXT)).toBe(true);
        sizes.push(encoded.body.length);
      }
      expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
      expect(sizes.at(-1)).toBeGreaterThan(sizes[0] as number);
      if (coding === 'gzip') {
        const recorded = zlib.gzipSync(TEXT, { level: 4 }).length;
        expect((await encodeAs(TEXT, 'gzip', recorded)).body.length).toBe(recorded);
      }
    },
  );

  it('are Brotli where Zstandard was recorded but is unavailable', async () => {
    const { coding, body } = await encodeAs(TEXT, 'zstd', 5000);
    const decode = coding === 'zstd' ? zlib.zstdDecompressSync : zlib.brotliDecompressSync;
    expect(coding).toBe('zstdDecompressSync' in zlib ? 'zstd' : 'br');
    expect(Buffer.from(decode(body)).equals(TEXT)).toBe(true);
  });

  it('skip the slowest levels when they are large', async () => {
    const large = Buffer.concat(Array.from({ length: 30 }, () => TEXT));
    expect(large.length).toBeGreaterThan(1_000_000);
    for (const coding of ['br', 'zstd']) {
      const smallest = await encodeAs(large, coding, 0);
      expect(smallest.body.length).toBeLessThan(large.length / 10);
    }
  });

  it('stay unchanged without a coding, or with several', async () => {
    for (const coding of [undefined, '', 'identity', 'gzip, br', 'constructor'])
      expect(await encodeAs(TEXT, coding, 10)).toEqual({ body: TEXT, coding: null });
  });
});

describe('headers', () => {
  const kept = (headers: Record<string, string>) =>
    keptHeaders(Object.entries(headers).map(([name, value]) => ({ name, value })));

  it('are kept except for secrets and those set by the server', () => {
    const { headers, notes } = kept({
      'Content-Type': 'text/html',
      'content-length': '5',
      'Set-Cookie': 'a=b',
      'x-csrf-token': 'c',
      'x-accesstoken': 'e',
      'x-amz-security-jwt': 'f',
      Authorization: 'Bearer d',
      'alt-svc': 'h3=":443"',
      location: '/x',
      'cache-control': 'no-store',
      'bad name': 'x',
      split: 'one\r\ntwo: three',
    });
    expect(headers).toEqual({
      'content-type': 'text/html',
      location: '/x',
      'cache-control': 'no-store',
      split: 'one two: three',
    });
    expect(notes).toHaveLength(5);
  });

  it('joins those with equal names', () => {
    const policy = 'content-security-policy';
    const { headers } = keptHeaders([
      { name: policy, value: "default-src 'self'" },
      { name: policy, value: 'img-src *' },
    ]);
    expect(headers[policy]).toBe("default-src 'self', img-src *");
  });

  it('turns dates into ages, as the recording is replayed later', () => {
    const date = 'Fri, 20 Nov 2026 12:00:00 GMT';
    expect(kept({ date, expires: 'Fri, 20 Nov 2026 13:00:00 GMT' }).headers).toEqual({
      'cache-control': 'max-age=3600',
    });
    // A tenth of the ten days since the last change.
    expect(kept({ date, 'last-modified': 'Tue, 10 Nov 2026 12:00:00 GMT' }).headers['cache-control']).toBe(
      'max-age=86400',
    );
    expect(kept({ date, expires: '0' }).headers['cache-control']).toBe('no-cache');
    expect(kept({}).headers['cache-control']).toBe('no-cache');
  });

  it('are limited in size', () => {
    const { headers, notes } = kept({
      large: 'x'.repeat(10_000_000),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`h${i}`, 'y'.repeat(1000)])),
    });
    expect(JSON.stringify(headers).length).toBeLessThan(52_000);
    expect(notes[0]).toMatch(/header large of 10000005 bytes/);
  });
});

describe('a recorded page', () => {
  const timing = {
    startTime: 0,
    domainLookupStart: -1,
    domainLookupEnd: -1,
    connectStart: -1,
    secureConnectionStart: -1,
    connectEnd: -1,
    requestStart: 1,
    responseStart: 2,
    responseEnd: 3,
  };
  const captured = (url: string, answer: Partial<CapturedAnswer> = {}): Captured => ({
    url,
    method: 'GET',
    type: 'other',
    startMs: 0,
    endMs: 3,
    timing,
    requestSha256: null,
    failure: null,
    answer: {
      status: 200,
      headers: [],
      protocol: 'h2',
      remoteIp: null,
      bodyBytes: answer.body?.length ?? null,
      body: null,
      ...answer,
    },
  });
  const pageOf = (requests: Captured[], more: Partial<RecordedPageOptions> = {}) =>
    recordedPage(
      { epochMs: 0, browser: '1', finalUrl: 'https://a.test/x?#token=1', pltMs: 5, requests, dropped: 0 },
      { name: 'a', url: 'https://a.test/x?', seed: 1, maxBytes: 1000, protocols: 'all', ...more },
    );
  const entry = captured('https://a.test/x?', { body: Buffer.from('with an empty query') });
  const range = (name: string, bytes: number, total: string) =>
    captured(`https://a.test/${name}`, {
      status: 206,
      headers: [{ name: 'Content-Range', value: `bytes 0-${bytes - 1}/${total}` }],
      body: new Uint8Array(bytes).fill(1),
    });

  it('distinguishes a URL with an empty query from one without', async () => {
    const { site, files } = await pageOf([
      entry,
      captured('https://a.test/x', { body: Buffer.from('without') }),
    ]);
    expect(site.resources.map(({ path }) => path)).toEqual(['/x?', '/x']);
    expect(files.get('bodies/0001')?.toString()).toBe('without');
    expect(files.get('record.json')?.toString()).toContain('"finalUrl": "https://a.test/x?"');
    siteSchema.parse(site);
  });

  it('pads resources that were fetched in part, within the limit', async () => {
    const { site, files } = await pageOf([entry, range('film', 10, '900'), range('other', 10, '900')]);
    expect(files.get('bodies/0001')).toHaveLength(900);
    expect(site.resources[2]?.body).toEqual({ filler: 'bytes', bytes: 900 });
  });

  it('limits claimed sizes', async () => {
    const claims = Array.from({ length: 20 }, (_, i) => range(String(i), 1, '999999999999'));
    const lengths = Array.from({ length: 20 }, (_, i) =>
      captured(`https://a.test/length${i}`, {
        headers: [{ name: 'content-length', value: '999999999999999' }],
      }),
    );
    const { site, files } = await pageOf([entry, ...claims, ...lengths]);
    expect([...files.keys()]).toEqual(['bodies/0000', 'record.json']);
    const fillers = site.resources.map(({ body }) => ('bytes' in body ? body.bytes : 0));
    expect(fillers.reduce((sum, bytes) => sum + bytes, 0)).toBe(2 ** 30);
    siteSchema.parse(site);
  });

  it('stops on abort', async () => {
    await expect(pageOf([entry], { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
      'stopped',
    );
  });
});

describe('determinism', () => {
  const inPage = (seed: number, path: string, now: number) =>
    runInNewContext(
      `class Crypto {}; globalThis.Crypto = Crypto; const crypto = new Crypto();
      ${determinismScript(seed, 1_700_000_000_000, now)}
      const bytes = crypto.getRandomValues(new Uint16Array(3));
      ({ chance: [Math.random(), Math.random()], bytes: [...bytes], id: crypto.randomUUID(), now: Date.now(),
        made: +new Date(), said: Date(), fixed: new Date(2020, 1, 2).getFullYear(), is: new Date() instanceof Date,
        own: new Date().constructor === Date, utc: Date.UTC(2000, 0), tag: Object.prototype.toString.call(new Date()) })`,
      { location: { origin: 'https://a.test', pathname: path, search: '' }, parent: [] },
    ) as Record<string, unknown>;

  it('gives the same random numbers in every load, and others for another seed or frame', () => {
    const now = Date.now();
    const first = inPage(1, '/', now);
    expect(inPage(1, '/', now)).toMatchObject({ chance: first.chance, bytes: first.bytes, id: first.id });
    expect(inPage(2, '/', now).chance).not.toEqual(first.chance);
    expect(inPage(1, '/frame', now).chance).not.toEqual(first.chance);
    for (const value of first.chance as number[]) expect(value >= 0 && value < 1).toBe(true);
    expect(first.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('starts the clock at the epoch and leaves given dates unchanged', () => {
    const page = inPage(1, '/', Date.now());
    for (const moment of [page.now, page.made, Date.parse(page.said as string) + 999]) {
      expect(moment as number).toBeGreaterThanOrEqual(1_700_000_000_000);
      expect(moment as number).toBeLessThan(1_700_000_005_000);
    }
    expect(page).toMatchObject({ fixed: 2020, is: true, own: true, utc: 946684800000, tag: '[object Date]' });
  });
});

describe('results from a log', () => {
  const entry = (path: string, more: object = {}) => ({
    origin: 'https://a.test',
    method: 'GET',
    path,
    protocol: 'h2' as const,
    status: 200,
    bytes: 0,
    startMs: 0,
    durationMs: 0,
    connection: 1,
    ...more,
  });
  const entries = [
    entry('/'),
    entry('/x?b=2', { answered: '/x?a=1' }),
    entry('/gone', { miss: true }),
    entry('/gone', { miss: true }),
    entry('/gone', { miss: true, method: 'POST' }),
  ];

  it('lists each miss once', () => {
    expect(missesOf({ entries })).toEqual([
      { method: 'GET', url: 'https://a.test/gone', count: 2 },
      { method: 'POST', url: 'https://a.test/gone', count: 1 },
    ]);
  });

  const at = (path: string, method?: string) => ({
    url: `https://a.test${path}`,
    ...(method === undefined ? {} : { method }),
  });
  const request = { protocol: 'h2' as const, startMs: 0, endMs: 1, bytes: 1, fromCache: false };
  const load: Load = {
    ok: true,
    pltMs: 500,
    fcpMs: null,
    lcpMs: null,
    proved: true,
    failed: [],
    recording: null,
    requests: ['/', '/x?b=2', '/gone', 'https://b.test/'].map((path) => ({
      ...request,
      url: new URL(path, 'https://a.test').href,
    })),
  };
  const early = [...entries, entry('/late', {})];

  it('counts repeated requests until the end', () => {
    const requests = [at('/'), at('/x?a=1', 'GET'), at('/', 'POST'), at('/gone', 'GET'), at('/late')];
    expect(compareRequests('h2', { requests, until: 'end' }, load, { entries: early })).toEqual({
      protocol: 'h2',
      failure: null,
      pltMs: 500,
      expected: 5,
      again: 3,
      share: 0.6,
      missing: ['POST https://a.test/', 'GET https://a.test/gone'],
      extra: ['https://b.test/'],
      similar: ['https://a.test/x?b=2'],
      misses: missesOf({ entries }),
      failed: [],
      proved: true,
    });
  });

  it('counts repeated requests before the load event', () => {
    const requests = [at('/'), at('/x?a=1'), at('/late')];
    const check = compareRequests('h2', { requests, until: 'load' }, load, { entries: early });
    expect(check).toMatchObject({ again: 2, missing: ['https://a.test/late'] });
    const failed = { ok: false, kind: 'timeout', reason: 'no load event' } as const;
    expect(compareRequests('h2', { requests, until: 'load' }, failed, { entries: early })).toMatchObject({
      failure: 'no load event',
      pltMs: null,
      again: 3,
    });
    expect(compareRequests('h3', { requests, until: 'load' }, load, { entries: early }).proved).toBe(false);
  });
});

describe('the command line', () => {
  it('accepts a page and its options', () => {
    expect(
      recordOptionsOf(['https://a.test/x', '--map', 'a.test=127.0.0.1:8443', '--check', 'h3']),
    ).toMatchObject({
      url: 'https://a.test/x',
      out: 'out/pages/a.test',
      map: [{ host: 'a.test', to: '127.0.0.1:8443' }],
      check: ['h3'],
      protocols: 'all',
    });
  });

  it.each([
    [['http://a.test/'], /expected an https:\/\/ URL: HTTP\/2 and HTTP\/3 need TLS/],
    [['https://a.test:8443/'], /without port/],
    [['https://127.0.0.1/'], /expected a host name/],
    [['https://u:p@a.test/'], /without user and password/],
    [['https://a.test/', '--map', 'nonsense'], /expected HOST=ADDRESS:PORT/],
    [['https://a.test/', '--max-bytes', '-1'], /expected bytes from 1/],
    [[], /missing required argument/],
  ])('refuses %j', (argv, message) => {
    expect(() => recordOptionsOf(argv)).toThrow(message);
  });
});
