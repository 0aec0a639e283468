import {
  buildGraph,
  InputError,
  PROTOCOLS,
  parseRecording,
  predict,
  readRecording,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { chromiumEntry, chromiumHar, harOf, START } from '../support/hars.ts';

it('reads the largest sizes of a HAR as sizes that a recording may have', () => {
  const response = { status: 200, headersSize: 1e10, bodySize: 1e10, content: { size: 1e10 } };
  const recording = parseRecording(harOf([chromiumEntry('https://a.test/', 0, { wait: 5 }, { response })]));
  expect(recording.requests[0]).toMatchObject({ transferBytes: 1e10, bodyBytes: 1e10 });
  expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
});

describe('HAR from Chromium', () => {
  const recording = parseRecording(JSON.stringify(chromiumHar()));
  const byUrl = (url: string) => recording.requests.find((request) => request.url === url)!;

  it('keeps requests in order, without those that no network carries', () => {
    expect(recording.requests.map(({ url }) => url)).toEqual([
      'https://shop.test/',
      'https://shop.test/a.css',
      'https://cdn.test/app.js',
      'https://shop.test/f.woff2',
      'https://cdn.test/late.png',
      'https://shop.test/beacon',
    ]);
    expect(recording).toMatchObject({ url: 'https://shop.test/', pltMs: 500, domContentLoadedMs: 300 });
  });

  it('reads the phases of a new connection and none for a reused one', () => {
    // DNS 0 to 5, TCP 5 to 35, TLS 35 to 65 (HAR counts it within connect), request 65, response 145, end 165.
    expect(byUrl('https://shop.test/')).toMatchObject({
      startMs: 0,
      endMs: 165,
      phases: {
        dnsStartMs: 0,
        dnsEndMs: 5,
        connectStartMs: 5,
        secureStartMs: 35,
        connectEndMs: 65,
        requestStartMs: 65,
        responseStartMs: 145,
      },
      connectionId: '11',
      protocol: 'h2',
      transferBytes: 10_300,
      decodedBytes: 30_000,
      offersH3: true,
      urgency: 0,
    });
    expect(byUrl('https://shop.test/a.css').phases).toMatchObject({ dnsStartMs: null, connectStartMs: null });
  });

  it('finds initiators through stylesheets and asynchronous stacks', () => {
    expect(byUrl('https://shop.test/').initiator).toEqual({
      kind: 'navigation',
      requestId: null,
      source: 'recorded',
    });
    expect(byUrl('https://shop.test/a.css').initiator).toEqual({
      kind: 'parser',
      requestId: 0,
      source: 'recorded',
    });
    expect(byUrl('https://shop.test/f.woff2').initiator).toEqual({
      kind: 'style',
      requestId: 1,
      source: 'recorded',
    });
    expect(byUrl('https://cdn.test/late.png').initiator).toEqual({
      kind: 'script',
      requestId: 2,
      source: 'recorded',
    });
    expect(byUrl('https://shop.test/beacon').initiator).toEqual({
      kind: 'other',
      requestId: 0,
      source: 'inferred',
    });
  });

  it('is the same read as text, as an object and from its own recording', () => {
    expect(parseRecording(chromiumHar())).toEqual(recording);
    expect(parseRecording({ url: recording.url, har: chromiumHar() })).toEqual(recording);
    expect(parseRecording(`\uFEFF${JSON.stringify(chromiumHar())}`)).toEqual(recording);
    expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
  });
});

describe('HARs of other recorders', () => {
  it('reads WebPageTest: absolute times, numbers as strings, the initiator as a URL', () => {
    const entry = (url: string, own: object) => ({
      startedDateTime: '2026-01-05T10:00:00.100Z',
      time: 200,
      request: { method: 'GET', url, headersSize: 300 },
      response: {
        status: 200,
        httpVersion: '1.1',
        headersSize: 200,
        bodySize: 5_000,
        content: { size: 5_000 },
      },
      timings: { blocked: -1, dns: -1, connect: 40, ssl: -1, send: 0, wait: 60, receive: 20 },
      ...own,
    });
    const { requests } = parseRecording(
      harOf([
        entry('https://a.test/', {
          _all_start: '100',
          _dns_start: '100',
          _dns_end: '110',
          _connect_start: '110',
          _connect_end: '150',
          _ssl_start: '150',
          _ssl_end: '190',
          _load_start: '190',
          _ttfb_start: '190',
          _ttfb_end: '260',
          _load_end: 300,
          _bytesIn: '5200',
          _socket: '7',
          _contentType: 'text/html',
          _initiator: '',
          _priority: 'HIGHEST',
        }),
        entry('https://a.test/i.png', {
          _all_start: '310',
          _load_start: '310',
          _ttfb_start: '310',
          _ttfb_end: '350',
          _load_end: '360',
          _bytesIn: '2281',
          _socket: '7',
          _contentType: 'image/png',
          _initiator: 'https://a.test/',
          _protocol: 'HTTP/2',
        }),
      ]),
    );
    expect(requests[0]).toMatchObject({
      type: 'document',
      protocol: 'h1',
      startMs: 100,
      endMs: 300,
      transferBytes: 5_200,
      urgency: 0,
      connectionId: '7',
      phases: {
        dnsStartMs: 100,
        connectStartMs: 110,
        secureStartMs: 150,
        connectEndMs: 190,
        responseStartMs: 260,
      },
    });
    expect(requests[1]).toMatchObject({
      type: 'image',
      protocol: 'h2',
      startMs: 310,
      endMs: 360,
      transferBytes: 2_281,
      initiator: { kind: 'parser', requestId: 0, source: 'recorded' },
      phases: { connectStartMs: null },
    });
  });

  it("adds Firefox's TLS phase to its connect phase", () => {
    const har = harOf([chromiumEntry('https://a.test/', 0, { dns: 5, connect: 30, ssl: 40, wait: 50 })]) as {
      log: { creator: object };
    };
    har.log.creator = { name: 'Firefox', version: '153.0' };
    const { phases } = parseRecording(har).requests[0]!;
    expect(phases).toMatchObject({
      connectStartMs: 5,
      secureStartMs: 35,
      connectEndMs: 75,
      responseStartMs: 125,
    });
  });

  it('reads a HAR with only the fields that HAR 1.2 requires', () => {
    const minimal = {
      log: {
        entries: [
          { startedDateTime: '2026-01-05T10:00:00Z', request: { url: 'https://a.test/' } },
          { startedDateTime: '2026-01-05T10:00:00.2Z', time: 50, request: { url: 'https://a.test/x.js' } },
        ],
      },
    };
    const { requests, pltMs } = parseRecording(minimal);
    expect(pltMs).toBeNull();
    expect(requests[1]).toMatchObject({
      type: 'script',
      startMs: 200,
      endMs: 250,
      transferBytes: null,
      status: 200,
    });
    expect(buildGraph(parseRecording(minimal)).activities).toHaveLength(2);
  });

  it('takes the first of several pages and says so', () => {
    const har = harOf([
      chromiumEntry('https://a.test/', 0, {}, { pageref: 'page_1' }),
      chromiumEntry('https://b.test/', 0, {}, { pageref: 'page_2' }),
    ]) as { log: { pages: object[] } };
    har.log.pages.push({ id: 'page_2', startedDateTime: '2026-01-05T10:01:00Z', pageTimings: {} });
    const { recording, notes } = readRecording(har);
    expect(recording.requests.map(({ url }) => url)).toEqual(['https://a.test/']);
    expect(notes).toEqual([
      '2 pages in the file: took the first (https://a.test/, 1 request)',
      'used 1 of 2 requests: 1 belonged to other pages',
    ]);
  });

  it('takes the first page that has requests', () => {
    const har = harOf([chromiumEntry('https://b.test/', 0, {}, { pageref: 'page_2' })]) as {
      log: { pages: object[] };
    };
    har.log.pages.push({
      id: 'page_2',
      startedDateTime: '2026-01-05T10:00:00Z',
      pageTimings: { onLoad: 70 },
    });
    const { recording, notes } = readRecording(har);
    expect(recording.requests.map(({ url }) => url)).toEqual(['https://b.test/']);
    expect(recording.pltMs).toBe(70);
    expect(notes).toEqual([
      '2 pages in the file: took number 2, the first that has requests (https://b.test/, 1 request)',
    ]);
  });

  it('separates pages of one id by time', () => {
    const har = harOf([
      chromiumEntry('https://a.test/', 0, {}, { pageref: 'page_1' }),
      chromiumEntry('https://a.test/again', 61_000, {}, { pageref: 'page_1' }),
    ]) as { log: { pages: object[] } };
    har.log.pages.push({ id: 'page_1', startedDateTime: '2026-01-05T10:01:00Z', pageTimings: {} });
    expect(parseRecording(har).requests.map(({ url }) => url)).toEqual(['https://a.test/']);
  });

  it('ignores initiators that form a circle', () => {
    const by = (url: string) => ({ _initiator: { type: 'script', url }, _resourceType: 'script' });
    const { requests } = parseRecording(
      harOf([
        chromiumEntry('https://a.test/', 0, {}),
        chromiumEntry('https://a.test/1.js', 50, {}, by('https://a.test/2.js')),
        chromiumEntry('https://a.test/2.js', 50, {}, by('https://a.test/1.js')),
        chromiumEntry('https://a.test/3.js', 50, {}, by('https://a.test/3.js')),
      ]),
    );
    for (const { id, initiator } of requests) expect(initiator.requestId ?? -1).toBeLessThan(id);
  });

  it('follows redirects, relative ones too', () => {
    const redirect = chromiumEntry('http://a.test/', 0, { wait: 20 }) as { response: object };
    redirect.response = { ...redirect.response, status: 301, redirectURL: 'https://a.test/' };
    const second = chromiumEntry('https://a.test/', 30, { wait: 20 }) as { response: object };
    second.response = { ...second.response, status: 302, redirectURL: '/home' };
    const { requests, url } = parseRecording(
      harOf([redirect, second, chromiumEntry('https://a.test/home', 60, {})]),
    );
    expect(url).toBe('https://a.test/home');
    expect(requests.map(({ type, initiator }) => [type, initiator.kind, initiator.requestId])).toEqual([
      ['document', 'navigation', null],
      ['document', 'redirect', 0],
      ['document', 'redirect', 1],
    ]);
  });

  it('distinguishes frames from the document', () => {
    const { requests } = parseRecording(
      harOf([
        chromiumEntry('https://a.test/', 0, {}, { _resourceType: 'document' }),
        chromiumEntry('https://ad.test/', 90, {}, { _resourceType: 'document' }),
      ]),
    );
    expect(requests.map(({ type }) => type)).toEqual(['document', 'iframe']);
  });
});

describe('unusable input', () => {
  const complaint = (input: unknown): string => {
    try {
      parseRecording(input);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      return (error as Error).message;
    }
    throw new Error('it was taken');
  };

  it('is named by place, expectation and what was found', () => {
    const broken = harOf([
      chromiumEntry('https://a.test/', 0, {}),
      chromiumEntry('https://a.test/b', 0, {}),
    ]) as {
      log: { entries: { timings: Record<string, unknown>; startedDateTime: unknown }[] };
    };
    broken.log.entries[1]!.timings.wait = 'x';
    expect(complaint(broken)).toBe('log.entries[1].timings.wait: expected a number, got "x"');
    broken.log.entries[0]!.startedDateTime = 'yesterday';
    expect(complaint(broken)).toBe(
      'log.entries[0].startedDateTime: expected a date and time (ISO 8601), got "yesterday"',
    );
    expect(complaint({ log: { entries: {} } })).toBe(
      'log.entries: expected an array of entries, got an object',
    );
    expect(complaint({ log: { entries: [] } })).toMatch(/^log\.entries: expected requests/);
    const tunnel = {
      ...chromiumEntry('https://a.test/', 0, {}),
      request: { method: 'CONNECT', url: 'https://a.test/' },
    };
    expect(complaint({ log: { entries: [tunnel] } })).toBe(
      "log.entries: expected requests, got only a proxy's tunnels or a browser's own checks",
    );
    expect(complaint('{"log":')).toMatch(/^log: expected JSON, got /);
    expect(complaint('')).toMatch(/^top level: expected JSON, got /);
    expect(complaint('[]')).toBe('top level: expected requests, got none');
    expect(complaint('[5]')).toBe('[0]: expected an object, got 5');
    expect(complaint({ constants: {}, events: [] })).toBe(
      "constants.logEventTypes: expected the numbers of a NetLog's events by name, got none",
    );
    expect(complaint({ meta: { product: 'Firefox' }, threads: [] })).toMatch(/, got a Firefox profile: /);
    expect(complaint({ version: 1, recording: {}, overview: {} })).toMatch(/, got a Safari timeline: /);
    expect(complaint([{ request: {}, times: {}, durations: {} }])).toMatch(/, got a Charles session: /);
    expect(complaint([{ method: 'Page.frameNavigated', params: {} }])).toMatch(
      /, got messages of the DevTools/,
    );
    expect(complaint([{ level: 'INFO', message: '{}', timestamp: 1 }])).toMatch(/, got a log of Selenium/);
    expect(complaint({ type: 'resource-snapshot', snapshot: {} })).toMatch(/, got requests of a Playwright/);
    expect(complaint({ statusCode: 200, data: { runs: {} } })).toMatch(/, got a WebPageTest result: /);
    expect(complaint({ lighthouseVersion: '13', audits: {} })).toMatch(/, got a Lighthouse report, /);
    expect(complaint('{}')).toMatch(
      /^top level: expected a HAR \("log"\), its entries, a Chrome trace, .*, got an object$/,
    );
    expect(complaint({ log: { entries: [{ startedDateTime: START, request: { url: 1 } }] } })).toBe(
      'log.entries[0].request.url: expected a URL, got 1',
    );
    const timings = { ...{ send: [] }, wait: 1 };
    expect(complaint(harOf([chromiumEntry('https://a.test/', 0, {}, { time: 1, timings })]))).toBe(
      'log.entries[0].timings.send: expected a number, got an array',
    );
    expect(complaint(harOf([chromiumEntry('data:,x', 0, {})]))).toMatch(
      /expected at least one http or https request/,
    );
  });

  it('of a hopwise recording is named, too', () => {
    const recording = structuredClone(parseRecording(chromiumHar()));
    recording.requests[2]!.initiator.requestId = 99;
    expect(complaint(recording)).toBe(
      'requests[2].initiator.requestId: expected a position in requests (0 to 5), got 99',
    );
    Object.assign(recording.requests[1]!, { type: 'video' });
    expect(complaint(recording)).toMatch(/^requests\[1\]\.type: expected one of document, .*, got "video"$/);
    expect(complaint({ ...recording, version: 2 })).toBe('version: expected 1, got 2');
  });
});

describe('any input', () => {
  const usable = (input: unknown): boolean => {
    try {
      const recording = parseRecording(input);
      const prediction = predict(recording, { seeds: 1 });
      for (const protocol of PROTOCOLS) {
        const time = prediction.protocols[protocol];
        if ('pltMs' in time) expect(Number.isFinite(time.pltMs)).toBe(true);
      }
      expect(prediction.confidence).not.toBeNaN();
      expect(prediction.decision.confidence).not.toBeNaN();
      expect(prediction.reasons.join(' ')).not.toMatch(/NaN|undefined/);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      expect((error as Error).message).not.toMatch(/\n/);
      return false;
    }
  };

  it('of JSON gives a result or one line', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => void usable(value)),
      { numRuns: countRuns(100, 300) },
    );
    fc.assert(
      fc.property(fc.string(), (text) => void usable(text)),
      { numRuns: countRuns(100, 300) },
    );
  });

  it('of a HAR with odd values gives a result or one line', () => {
    // A time or size that some recorder might write.
    const odd = fc.oneof(
      { weight: 80, arbitrary: fc.integer({ min: -10, max: 5_000 }) },
      { weight: 10, arbitrary: fc.double({ min: -1e10, max: 1e10, noNaN: true }) },
      { weight: 10, arbitrary: fc.constantFrom(null, undefined, '', '12') },
      { weight: 1, arbitrary: fc.constantFrom<unknown>('x', true, [], {}, 1e300) },
    );
    const entry = fc.record(
      {
        startedDateTime: fc.oneof(
          {
            weight: 30,
            arbitrary: fc.constantFrom('2026-01-05T10:00:00Z', '2026-01-05T10:00:01.5Z', '1999-01-01'),
          },
          { weight: 1, arbitrary: fc.constant('x') },
        ),
        time: odd,
        request: fc.record({
          url: fc.constantFrom(
            'https://a.test/',
            'https://b.test/x.js',
            'http://c.test',
            'data:,',
            'https:///',
            'x',
          ),
        }),
        response: fc.option(
          fc.record(
            {
              status: odd,
              _transferSize: odd,
              bodySize: odd,
              redirectURL: fc.constantFrom('/', 'https://b.test/x.js'),
            },
            { requiredKeys: [] },
          ),
        ),
        timings: fc.option(
          fc.record(
            { blocked: odd, dns: odd, connect: odd, ssl: odd, send: odd, wait: odd, receive: odd },
            { requiredKeys: [] },
          ),
        ),
        _initiator: fc.oneof(
          fc.constantFrom('https://a.test/', 'https://b.test/x.js', null),
          fc.record({
            type: fc.constantFrom('parser', 'script', 5),
            url: fc.constantFrom('https://b.test/x.js', 5),
          }),
        ),
        _resourceType: fc.constantFrom('document', 'script', 'image', 'nonsense'),
        _load_start: odd,
        _load_end: odd,
      },
      { requiredKeys: ['startedDateTime', 'request'] },
    );
    const onLoad = fc.oneof(fc.constant(undefined), fc.integer({ min: -1, max: 5_000 }));
    let taken = 0;
    const numRuns = countRuns(170, 500);
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), onLoad, (entries, load) => {
        if (usable(harOf(entries, { onLoad: load }))) taken++;
      }),
      { numRuns },
    );
    // About six of ten.
    expect(taken).toBeGreaterThan(0.2 * numRuns);
  });
});
