import {
  buildGraph,
  parseRecording,
  type Recording,
  RecordingBytes,
  readRecording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, chromiumHar, harOf, START } from '../../support/hars.ts';

const PAGE = 'https://a.test/';
const page = (extra: object = {}) => chromiumEntry(PAGE, 0, { wait: 40, receive: 10 }, extra);

function requestFor({ requests }: Recording, url: string) {
  const found = requests.filter((request) => request.url === url);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** One entry with no more than HAR 1.2 requires. */
function plainEntry(
  url: string,
  startMs: number,
  timeMs: number,
  mimeType: string,
  extra: object = {},
): object {
  return {
    startedDateTime: new Date(Date.parse(START) + startMs).toISOString(),
    time: timeMs,
    request: { method: 'GET', url, headersSize: 200, bodySize: 0 },
    response: { status: 200, headersSize: 300, bodySize: 4_000, content: { size: 9_000, mimeType } },
    timings: { send: 0, wait: timeMs - 5, receive: 5 },
    ...extra,
  };
}

describe('DevTools entries', () => {
  const log = (chromiumHar() as { log: { entries: object[] } }).log;
  const recording = parseRecording(chromiumHar());

  it('are read as getHAR and onRequestFinished pass them', () => {
    expect(parseRecording(log)).toEqual(recording);
    const { requests } = parseRecording(log.entries);
    expect(requests).toEqual(recording.requests);
    expect(parseRecording(JSON.stringify(log.entries)).requests).toEqual(requests);
    expect(parseRecording(log.entries[0]).requests).toEqual([recording.requests[0]]);
  });

  it('are named by their place in the input when they cannot be used', () => {
    const broken = structuredClone(log) as { entries: { timings: { wait: unknown } }[] };
    broken.entries[0]!.timings.wait = 'x';
    expect(() => parseRecording(broken)).toThrow('entries[0].timings.wait: expected a number, got "x"');
    expect(() => parseRecording(broken.entries)).toThrow('[0].timings.wait: expected a number, got "x"');
  });

  it('of two navigations are separated by page', () => {
    const { recording: first, notes } = readRecording([
      page({ pageref: 'page_1' }),
      chromiumEntry('https://b.test/', 5_000, {}, { pageref: 'page_2' }),
    ]);
    expect(first.requests.map(({ url }) => url)).toEqual([PAGE]);
    expect(notes).toEqual([
      '2 pages in the file: took the first (https://a.test/, 1 request)',
      'no load event in the file: the load is guessed to end with the last response that could hold it up, after 50 ms',
      'used 1 of 2 requests: 1 belonged to other pages',
    ]);
  });

  it('have their connection in _connectionId, the port in connection', () => {
    const of = (extra: object) => parseRecording(harOf([page(extra)])).requests[0]!.connectionId;
    expect(of({ connection: '443', _connectionId: '97' })).toBe('97');
    expect(of({ connection: '443' })).toBeNull();
    expect(of({ connection: '97' })).toBe('97');
  });

  it('have the type of a report on their content policy, whatever answers it', () => {
    const report = page({ _resourceType: 'csp-violation-report' });
    expect(parseRecording(harOf([page(), report])).requests[1]!.type).toBe('beacon');
  });

  it('write IPv6 addresses in brackets', () => {
    const { requests } = parseRecording(harOf([page({ serverIPAddress: '[2001:db8::1]' })]));
    expect(requests[0]!.remoteIp).toBe('2001:db8::1');
  });
});

describe('a response that came over no network', () => {
  const answered = (response: object, extra: object = {}) => {
    const entry = chromiumEntry('https://a.test/x.js', 60, { wait: 5 }, extra) as { response: object };
    return { ...entry, response: { ...entry.response, ...response } };
  };
  const read = (...entries: object[]) =>
    requestFor(parseRecording(harOf([page(), ...entries])), 'https://a.test/x.js');
  const nothing = {
    fromCache: true,
    protocol: null,
    transferBytes: 0,
    bodyBytes: 0,
    connectionId: null,
    phases: { requestStartMs: null, responseStartMs: null },
  };

  it('came from a cache', () => {
    expect(read(answered({ _transferSize: 0 }, { _fromCache: 'memory' }))).toMatchObject(nothing);
    expect(read(answered({ _transferSize: 0, fromDiskCache: true }))).toMatchObject(nothing);
    expect(read(answered({ _transferSize: 462 }, { _fromDiskCache: true }))).toMatchObject(nothing);
    expect(read(answered({}, { _fromDiskCache: false }))).toMatchObject({ fromCache: false });
  });

  it('was marked by Safari or fulfilled by a Playwright test', () => {
    expect(read(answered({}, { _fetchType: 'Memory Cache' }))).toMatchObject(nothing);
    expect(read(answered({}, { _fetchType: 'Network Load' }))).toMatchObject({ fromCache: false });
    expect(read(answered({}, { _wasFulfilled: true }))).toMatchObject(nothing);
  });

  it('came from a service worker’s cache', () => {
    const source = { _fetchedViaServiceWorker: true, _serviceWorkerResponseSource: 'cache-storage' };
    expect(read(answered({ _transferSize: 0, ...source }))).toMatchObject(nothing);
    expect(read(answered({ _transferSize: 0, fromServiceWorker: true }))).toMatchObject(nothing);
  });

  it('is counted once when the worker fetched it', () => {
    const viaWorker = answered({
      _transferSize: 0,
      _fetchedViaServiceWorker: true,
      _serviceWorkerResponseSource: 'network',
    });
    // Alone, the page's request stands for the worker's, whose bytes were not recorded: 30,000 less the 20,000 saved.
    expect(read(viaWorker)).toMatchObject({ fromCache: false, transferBytes: null, decodedBytes: 30_000 });
    const { requests } = parseRecording(harOf([page(), viaWorker, answered({}, { _connectionId: '5' })]));
    const twice = requests.filter(({ url }) => url === 'https://a.test/x.js');
    expect(twice.map(({ fromCache }) => fromCache).sort()).toEqual([false, true]);
  });

  it('is that of the worker’s request for it where Playwright names the frames of others alone', () => {
    const own = { _resourceType: 'script', _frameref: 'frame@1', time: 90 };
    const script = answered({ _transferSize: 0 }, { ...own, timings: { wait: 90 } });
    const fetched = (startMs: number, extra: object = {}) =>
      chromiumEntry('https://a.test/x.js', startMs, { wait: 70 }, { _resourceType: 'fetch', ...extra });
    const joined = (...entries: object[]) => {
      const { requests } = parseRecording(harOf([page(), script, ...entries]));
      return requests.filter(({ url }) => url === 'https://a.test/x.js');
    };
    const [request, ...others] = joined(fetched(70, { _connectionId: '5' }));
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      type: 'script',
      startMs: 60,
      fromCache: false,
      protocol: 'h2',
      transferBytes: 10_300,
      connectionId: '5',
      phases: { requestStartMs: 70, responseStartMs: 140 },
    });
    // Later, answered later to renew what the worker keeps, or by a script of the page.
    expect(joined(fetched(160))).toHaveLength(2);
    expect(joined(fetched(100))).toHaveLength(2);
    expect(joined(fetched(70, { _frameref: 'frame@1' }))).toHaveLength(2);
  });

  it('is that of the worker’s request for it where DevTools marks the page’s', () => {
    const joined = (marks: object, extra: object = {}) => {
      const viaWorker = answered(
        { _transferSize: 0, _fetchedViaServiceWorker: true, ...marks },
        { _resourceType: 'script', timings: { wait: 90 }, time: 90 },
      );
      const fetched = chromiumEntry(
        'https://a.test/x.js',
        70,
        { wait: 70 },
        { _resourceType: 'fetch', ...extra },
      );
      const { requests } = parseRecording(harOf([page(), viaWorker, fetched]));
      return requests.filter(({ url }) => url === 'https://a.test/x.js');
    };
    const asOne = [{ type: 'script', startMs: 60, fromCache: false, protocol: 'h2', transferBytes: 10_300 }];
    expect(joined({ _serviceWorkerResponseSource: 'network' })).toMatchObject(asOne);
    expect(joined({})).toMatchObject(asOne);
    // From what the worker keeps, while it asks for a new copy; and another request of the page.
    expect(joined({ _serviceWorkerResponseSource: 'cache-storage' })).toHaveLength(2);
    expect(joined({}, { _resourceType: 'script' })).toHaveLength(2);
  });

  it('is a redirect that the browser made itself', () => {
    const upgrade = chromiumEntry('http://a.test/', 0, {}) as { response: object };
    upgrade.response = {
      ...upgrade.response,
      status: 307,
      statusText: 'Internal Redirect',
      redirectURL: PAGE,
      _transferSize: 0,
    };
    const recording = parseRecording(harOf([upgrade, chromiumEntry(PAGE, 1, { wait: 40 })]));
    expect(recording.requests.map(({ fromCache }) => fromCache)).toEqual([true, false]);
    expect(buildGraph(recording).origins).toEqual(['https://a.test']);
  });

  it('is not one that a server pushed', () => {
    const pushed = read(answered({ _transferSize: 4_000, fromDiskCache: true }, { _was_pushed: 1 }));
    expect(pushed).toMatchObject({
      fromCache: false,
      transferBytes: 4_000,
      phases: { requestStartMs: null },
    });
    expect(pushed.phases.responseStartMs).toBe(65);
  });

  it('is not one that was revalidated, as its headers came over the network', () => {
    const unchanged = read(
      answered({ status: 304, bodySize: 0, headersSize: 250, _transferSize: undefined }),
    );
    expect(unchanged).toMatchObject({ fromCache: false, transferBytes: 250, bodyBytes: 0 });
  });
});

describe('HARs from Firefox', () => {
  const firefox = (entries: object[]) => {
    const har = harOf(entries) as { log: { creator: object } };
    har.log.creator = { name: 'Firefox', version: '153.0' };
    return parseRecording(har);
  };
  const entry = (url: string, bodySize: number, dest: string) => ({
    ...chromiumEntry(url, 0, {}),
    request: { method: 'GET', url, headers: [{ name: 'Sec-Fetch-Dest', value: dest }] },
    response: {
      status: 200,
      httpVersion: 'HTTP/3',
      headers: [],
      headersSize: 400,
      bodySize,
      content: { size: 9_000, mimeType: 'text/html' },
    },
  });

  it('count headers into bodies, name ports as connections, and state the types of requests', () => {
    const { requests } = firefox([
      entry(PAGE, 5_400, 'document'),
      entry('https://a.test/data', 900, 'empty'),
    ]);
    expect(requests[0]).toMatchObject({
      type: 'document',
      protocol: 'h3',
      transferBytes: 5_400,
      bodyBytes: 5_000,
      connectionId: null,
    });
    // Not a frame, although it is HTML.
    expect(requests[1]!.type).toBe('fetch');
  });

  it('give redirects the sizes of the document that they led to', () => {
    const redirect = (length: string | null) => {
      const moved = entry('http://a.test/', 90_400, 'document');
      const headers = [
        { name: 'Location', value: PAGE },
        ...(length === null ? [] : [{ name: 'Content-Length', value: length }]),
      ];
      const response = { ...moved.response, status: 301, redirectURL: PAGE, headers };
      return firefox([{ ...moved, response }, entry(PAGE, 90_400, 'document')]).requests;
    };
    // 400 bytes of headers
    expect(redirect('178')[0]).toMatchObject({ transferBytes: 578, bodyBytes: 178, decodedBytes: 178 });
    expect(redirect('0')[0]).toMatchObject({ transferBytes: 400, bodyBytes: 0 });
    expect(redirect(null)[0]).toMatchObject({ transferBytes: null, bodyBytes: null, decodedBytes: null });
    expect(redirect('178')[1]).toMatchObject({ transferBytes: 90_400, bodyBytes: 90_000 });
  });

  it('have no bytes for cached responses', () => {
    const { requests } = firefox([entry(PAGE, 5_400, 'document'), entry('https://a.test/x.js', 0, 'script')]);
    expect(requests.map(({ fromCache }) => fromCache)).toEqual([false, true]);
  });
});

describe('Alt-Svc', () => {
  const offers = (value: string, startedDateTime: string) => {
    const entry = page({ startedDateTime }) as { response: object };
    const headers = [{ name: 'Alt-Svc', value }];
    return parseRecording([{ ...entry, response: { ...entry.response, headers } }]).requests[0]!.offersH3;
  };

  it('with a draft offers HTTP/3 to browsers of its time only', () => {
    expect(offers('h3-29=":443"', '2021-05-01T10:00:00Z')).toBe(true);
    expect(offers('h3-29=":443"', '2026-05-01T10:00:00Z')).toBe(false);
  });

  it('that is stale at once, or of another protocol, offers none', () => {
    expect(offers('h3=":443"; ma=0', '2026-05-01T10:00:00Z')).toBe(false);
    expect(offers('h2="h3.a.test:443"', '2026-05-01T10:00:00Z')).toBe(false);
    expect(offers('h2="b.test:443", h3=":443"; ma=60', '2026-05-01T10:00:00Z')).toBe(true);
  });
});

describe('the initiator', () => {
  const asked = (entries: object[], url: string) => {
    const recording = parseRecording(harOf(entries));
    const { initiator } = requestFor(recording, url);
    const { requestId } = initiator;
    return { ...initiator, requestId: requestId === null ? null : recording.requests[requestId]!.url };
  };
  const script = (url: string) => ({ _initiator: { type: 'script', url } });

  it('is found when only the query differs, and marked as inferred', () => {
    const entries = [
      page(),
      chromiumEntry('https://a.test/lib.js?v=1', 60, {}, { _resourceType: 'script' }),
      chromiumEntry('https://a.test/i.png', 200, {}, script('https://a.test/lib.js?v=2')),
    ];
    expect(asked(entries, 'https://a.test/i.png')).toEqual({
      kind: 'script',
      requestId: 'https://a.test/lib.js?v=1',
      source: 'inferred',
    });
    const exact = chromiumEntry('https://a.test/lib.js?v=2', 70, {}, { _resourceType: 'script' });
    expect(asked([...entries, exact], 'https://a.test/i.png')).toMatchObject({
      requestId: 'https://a.test/lib.js?v=2',
      source: 'recorded',
    });
  });

  it.each([
    ['a function of its parents', 0, 20, 'late.js'],
    ['its 32nd script', 31, 0, 'late.js'],
    // The others ended at the same time.
    ['its 33rd script', 32, 0, '0.js'],
  ])('is the script of a stack that arrived last, when that is %s', (_, others, parents, expected) => {
    const scripts = ['late', ...Array.from({ length: others }, (_, index) => index)].map((name) =>
      chromiumEntry(
        `https://a.test/${name}.js`,
        60,
        { wait: name === 'late' ? 60 : 30 },
        { _resourceType: 'script' },
      ),
    );
    const frame = (url: string) => ({ functionName: 'f', url });
    const last = { callFrames: [frame('https://a.test/late.js')] };
    let stack: object = last;
    for (let depth = 0; depth < parents; depth++) stack = { callFrames: [], parent: stack };
    if (others > 0) {
      const urls = Array.from({ length: others }, (_, index) => `https://a.test/${index}.js`);
      stack = { callFrames: [...urls, ...urls].map(frame), parent: stack };
    }
    const entries = [
      page(),
      ...scripts,
      chromiumEntry('https://a.test/i.png', 200, {}, { _initiator: { type: 'script', stack } }),
    ];
    expect(asked(entries, 'https://a.test/i.png')).toMatchObject({
      requestId: `https://a.test/${expected}`,
      source: 'recorded',
    });
    const file = new RecordingBytes();
    file.add(new TextEncoder().encode(JSON.stringify(harOf(entries))));
    const text = file.end((kept) => new TextDecoder().decode(kept));
    expect(parseRecording(text)).toEqual(parseRecording(harOf(entries)));
  });

  it('is a redirect, for all notations of its target', () => {
    const redirect = (to: object) => {
      const entry = chromiumEntry('https://a.test/go', 0, { wait: 30 }) as { response: object };
      entry.response = { ...entry.response, status: 302, ...to };
      return [entry, chromiumEntry('https://b.test/?id=7', 31, { wait: 20 })];
    };
    for (const [to, source] of [
      [{ redirectURL: 'HTTPS://B.test:443?id=7#top' }, 'recorded'],
      [{ redirectURL: '', headers: [{ name: 'Location', value: '//b.test/?id=7' }] }, 'recorded'],
      [{ redirectURL: 'https://b.test/?id=secret' }, 'inferred'],
    ] as const) {
      expect(asked(redirect(to), 'https://b.test/?id=7')).toEqual({
        kind: 'redirect',
        requestId: 'https://a.test/go',
        source,
      });
    }
  });

  it('gives a redirect its own type', () => {
    const pixel = plainEntry('https://t.test/sync', 60, 20, 'text/html') as { response: object };
    pixel.response = { ...pixel.response, status: 302, redirectURL: '/pixel' };
    const { requests } = parseRecording(
      harOf([page(), pixel, plainEntry('https://t.test/pixel', 80, 20, 'image/gif')]),
    );
    expect(requests.map(({ type }) => type)).toEqual(['document', 'image', 'image']);
  });

  it('is the document, a stylesheet or a frame when a plain HAR states none; each edge is marked as inferred', () => {
    const recording = parseRecording(
      harOf([
        plainEntry(PAGE, 0, 100, 'text/html'),
        plainEntry('https://a.test/x.css', 60, 50, 'text/css'),
        plainEntry('https://ad.test/frame', 80, 40, 'text/html'),
        plainEntry('https://ad.test/x.gif', 200, 20, 'image/gif'),
        plainEntry('https://a.test/api', 220, 20, 'application/json'),
        plainEntry('https://a.test/f.woff2', 240, 20, 'font/woff2', {
          request: {
            url: 'https://a.test/f.woff2',
            headers: [{ name: 'referer', value: 'https://a.test/x.css' }],
          },
        }),
      ]),
    );
    expect(recording.requests.slice(1).map(({ initiator }) => initiator)).toEqual([
      { kind: 'parser', requestId: 0, source: 'inferred' },
      { kind: 'parser', requestId: 0, source: 'inferred' },
      { kind: 'parser', requestId: 2, source: 'inferred' },
      { kind: 'other', requestId: 0, source: 'inferred' },
      { kind: 'style', requestId: 1, source: 'inferred' },
    ]);
    const edges = buildGraph(recording).activities.flatMap(({ after }) => after);
    expect(edges.length).toBeGreaterThanOrEqual(5);
    expect(new Set(edges.map(({ source }) => source))).toEqual(new Set(['inferred']));
  });

  it('is a style sheet or a frame of an origin that a Referer names without more', () => {
    const font = 'https://fonts.test/f.woff2';
    const from = (referer: string) => ({
      request: { url: font, headers: [{ name: 'referer', value: referer }] },
    });
    const askerOf = (referer: string) => {
      const entries = [
        plainEntry(PAGE, 0, 100, 'text/html'),
        plainEntry('https://cdn.test/a.css', 60, 50, 'text/css'),
        plainEntry('https://cdn.test/late.css', 150, 90, 'text/css'),
        plainEntry('https://ad.test/frame', 80, 40, 'text/html'),
        plainEntry(font, 200, 20, 'font/woff2', from(referer)),
      ];
      return asked(entries, font);
    };
    expect(askerOf('https://cdn.test/')).toMatchObject({
      kind: 'style',
      requestId: 'https://cdn.test/a.css',
    });
    expect(askerOf('https://ad.test/')).toMatchObject({ requestId: 'https://ad.test/frame' });
    for (const other of [PAGE, 'https://else.test/', 'x'])
      expect(askerOf(other)).toMatchObject({ requestId: PAGE });
  });

  it('is a script of the same site when the parser is known to have made the others', () => {
    const named = { _initiator: PAGE, _resourceType: 'script' };
    const entries = [
      page(),
      chromiumEntry('https://cdn.a.test/app.js', 60, { wait: 20 }, named),
      chromiumEntry('https://ads.test/ad.js', 60, { wait: 30 }, named),
      chromiumEntry('https://img.a.test/i.png', 200, {}, { _resourceType: 'image' }),
    ];
    expect(asked(entries, 'https://img.a.test/i.png')).toEqual({
      kind: 'script',
      requestId: 'https://cdn.a.test/app.js',
      source: 'inferred',
    });
  });

  it('is that of the request for a preflight', () => {
    const entries = [
      page(),
      chromiumEntry('https://a.test/app.js', 60, { wait: 20 }, { _resourceType: 'script' }),
      chromiumEntry(
        'https://api.test/v1',
        100,
        { wait: 80 },
        { ...script('https://a.test/app.js'), _requestId: '9' },
      ),
      {
        ...chromiumEntry('https://api.test/v1?p', 101, {}, {}),
        request: { method: 'OPTIONS', url: 'https://api.test/v1?p' },
        _initiator: { type: 'preflight', requestId: '9', url: 'https://api.test/v1' },
      },
    ];
    expect(asked(entries, 'https://api.test/v1?p')).toMatchObject({ requestId: 'https://a.test/app.js' });
  });

  it('is the same for a preflight that is listed before its request', () => {
    const entries = [
      page(),
      chromiumEntry('https://a.test/app.js', 60, { wait: 20 }, { _resourceType: 'script' }),
      {
        ...chromiumEntry('https://api.test/v1?p', 100, {}, {}),
        request: { method: 'OPTIONS', url: 'https://api.test/v1?p' },
        _initiator: { type: 'preflight', requestId: '9', url: 'https://api.test/v2' },
      },
      chromiumEntry(
        'https://api.test/v2',
        101,
        { wait: 80 },
        { ...script('https://a.test/app.js'), _requestId: '9' },
      ),
    ];
    expect(asked(entries, 'https://api.test/v1?p')).toMatchObject({ requestId: 'https://a.test/app.js' });
  });

  it('is a preload', () => {
    const font = chromiumEntry('https://a.test/f.woff2', 60, {}, {}) as { request: object };
    font.request = { ...font.request, _isLinkPreload: true };
    expect(
      asked([page(), { ...font, _initiator: { type: 'parser', url: PAGE } }], 'https://a.test/f.woff2'),
    ).toEqual({
      kind: 'preload',
      requestId: PAGE,
      source: 'recorded',
    });
  });
});

describe('other HARs', () => {
  it('may begin with requests of the page before', () => {
    const beacon = chromiumEntry('https://old.test/bye', -20, {}, { _resourceType: 'ping' });
    const { recording, notes } = readRecording(harOf([beacon, page({ _resourceType: 'document' })]));
    expect(recording.requests.map(({ url, startMs }) => [url, startMs])).toEqual([[PAGE, 0]]);
    expect(notes).toEqual(['used 1 of 2 requests: 1 began before the navigation']);
  });

  it('may use custom fields for other purposes', () => {
    const odd = {
      _protocol: 2,
      _initiator: 7,
      _load_start: {},
      _priority: [],
      _socket: {},
      _resourceType: 4,
    };
    expect(parseRecording(harOf([page(odd)]))).toEqual(parseRecording(harOf([page()])));
  });

  it('may have request bodies', () => {
    const upload = chromiumEntry('https://a.test/up', 60, {}) as { request: object; timings: object };
    upload.request = { ...upload.request, method: 'POST', bodySize: 70_000 };
    upload.timings = { ...upload.timings, send: 45 };
    const recording = parseRecording(harOf([page(), upload]));
    expect(recording.requests[1]).toMatchObject({ requestBodyBytes: 70_000, requestBodyMs: 45 });
    expect(recording.requests[0]).not.toHaveProperty('requestBodyMs');
    const fetches = buildGraph(recording).activities.flatMap((one) => (one.kind === 'fetch' ? [one] : []));
    expect(fetches[1]!.requestBytes).toBeGreaterThan(70_000);
  });

  it("may have no sockets, where WebPageTest's agent knows of none", () => {
    const { requests } = parseRecording(harOf([page({ _socket: -1 }), page({ _socket: '-1' })]));
    expect(requests.map(({ connectionId }) => connectionId)).toEqual([null, null]);
  });

  it("may have WebPageTest's page times", () => {
    const har = harOf([page()], {}) as { log: { pages: object[] } };
    Object.assign(har.log.pages[0]!, {
      _loadTime: '900',
      _domContentLoadedEventStart: 500,
      _firstContentfulPaint: 300,
      '_chromeUserTiming.LargestContentfulPaint': 700,
    });
    expect(parseRecording(har)).toMatchObject({
      pltMs: 900,
      domContentLoadedMs: 500,
      firstContentfulPaintMs: 300,
      largestContentfulPaintMs: 700,
    });
  });
});

describe('hopwise recordings', () => {
  it('need only the URL and times of a request', () => {
    const recording = parseRecording({
      format: 'hopwise-recording',
      version: 1,
      requests: [
        { url: 'https://a.test/', startMs: 0, endMs: 80 },
        { url: 'https://a.test/x.js', startMs: 60, endMs: 100, initiator: { requestId: 0 } },
      ],
    });
    expect(recording).toMatchObject({ url: 'https://a.test/', browser: '', pltMs: null });
    expect(recording.requests.map(({ type, status, method }) => [type, status, method])).toEqual([
      ['document', 200, 'GET'],
      ['script', 200, 'GET'],
    ]);
    expect(recording.requests[1]!.initiator).toEqual({ kind: 'other', requestId: 0, source: 'inferred' });
    expect(buildGraph(recording).activities).toHaveLength(2);
    expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
  });
});
