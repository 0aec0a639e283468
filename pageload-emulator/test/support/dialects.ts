/** One page load as recorders write it, each in the dialect that `docs/recorders.md` describes. */

export const PAGE_URL = 'https://shop.test/';
/** When the navigation began, Unix time in milliseconds. */
const BEGAN = Date.parse('2026-01-05T10:00:07.810Z');
/** Bytes of every response's headers. */
export const HEADER_BYTES = 300;
/** When the load event came: as the last image had arrived, milliseconds after the navigation began. */
export const LOADED_MS = 430;
const PARSED_MS = 280;

/** A request of the page, milliseconds. */
interface Asked {
  url: string;
  mimeType: string;
  /** As in `Sec-Fetch-Dest`. */
  destination: string;
  /** As DevTools names it. */
  type: string;
  priority: string;
  /** After the navigation began. */
  startMs: number;
  /** Its new connection, half of which is TLS; null on one that was open. */
  opening: { dnsMs: number; connectMs: number } | null;
  connection: string;
  waitMs: number;
  receiveMs: number;
  bodyBytes: number;
  /** Whether it came from the cache. */
  cached?: boolean;
}

const OPENING = { dnsMs: 10, connectMs: 60 };

/** Over HTTP/2 the script waits for no connection; over HTTP/1.1 it opens one. */
function requestsOf(protocol: Protocol): Asked[] {
  const second = protocol === 'h1' ? { opening: { dnsMs: 0, connectMs: 60 }, connection: '12' } : {};
  const own = { opening: null, connection: '11' };
  return [
    {
      ...own,
      url: PAGE_URL,
      mimeType: 'text/html',
      destination: 'document',
      type: 'document',
      priority: 'VeryHigh',
      startMs: 0,
      opening: OPENING,
      waitMs: 80,
      receiveMs: 20,
      bodyBytes: 20_000,
    },
    {
      ...own,
      url: `${PAGE_URL}a.css`,
      mimeType: 'text/css',
      destination: 'style',
      type: 'stylesheet',
      priority: 'VeryHigh',
      startMs: 175,
      waitMs: 62,
      receiveMs: 10,
      bodyBytes: 12_000,
    },
    {
      ...own,
      url: `${PAGE_URL}a.js`,
      mimeType: 'text/javascript',
      destination: 'script',
      type: 'script',
      priority: 'High',
      startMs: 176,
      waitMs: 62,
      receiveMs: 30,
      bodyBytes: 40_000,
      ...second,
    },
    {
      url: 'https://cdn.test/hero.jpg',
      mimeType: 'image/jpeg',
      destination: 'image',
      type: 'image',
      priority: 'Low',
      startMs: 177,
      opening: OPENING,
      connection: '13',
      waitMs: 63,
      receiveMs: 120,
      bodyBytes: 200_000,
    },
    {
      ...own,
      url: `${PAGE_URL}logo.png`,
      mimeType: 'image/png',
      destination: 'image',
      type: 'image',
      priority: 'Low',
      startMs: 190,
      waitMs: 1,
      receiveMs: 0,
      bodyBytes: 9_000,
      cached: true,
    },
  ];
}

type Protocol = 'h1' | 'h2';

export interface Dialect {
  /** Who writes it. */
  name: string;
  /** Whether it writes a load event that can be believed. */
  hasLoadEvent: boolean;
  /** Whether it says how long connecting took. */
  timesConnecting: boolean;
  /** Whether it can record HTTP/2. */
  hasH2: boolean;
  write(protocol: Protocol): object;
}

const at = (ms: number) => new Date(BEGAN + ms).toISOString();
const connectMsOf = ({ opening }: Asked) => (opening === null ? -1 : opening.connectMs);
const tlsMsOf = ({ opening }: Asked) => (opening === null ? -1 : opening.connectMs / 2);
const dnsMsOf = ({ opening }: Asked) => (opening === null || opening.dnsMs === 0 ? -1 : opening.dnsMs);
const openMsOf = ({ opening }: Asked) => (opening === null ? 0 : opening.dnsMs + opening.connectMs);
const totalMsOf = (asked: Asked) => openMsOf(asked) + asked.waitMs + asked.receiveMs;
const alpn = (protocol: Protocol) => (protocol === 'h1' ? 'http/1.1' : 'h2');

/** What HAR 1.2 requires of a request. */
const requestOf = ({ url }: Asked, httpVersion: string, headers: object[] = []) => ({
  method: 'GET',
  url,
  httpVersion,
  headers,
  queryString: [],
  cookies: [],
  headersSize: -1,
  bodySize: 0,
});

/** What HAR 1.2 requires of a response. */
const responseOf = ({ mimeType, bodyBytes }: Asked, httpVersion: string, extra: object) => ({
  status: 200,
  statusText: 'OK',
  httpVersion,
  headers: [],
  cookies: [],
  content: { size: bodyBytes, mimeType },
  redirectURL: '',
  ...extra,
});

/** Phases of HAR 1.2: TLS within connecting. */
const timingsOf = (asked: Asked) => ({
  blocked: 0,
  dns: dnsMsOf(asked),
  connect: connectMsOf(asked),
  ssl: tlsMsOf(asked),
  send: 0,
  wait: asked.waitMs,
  receive: asked.receiveMs,
});

const inPage = (startMs: number, pageTimings: object, extra: object = {}) => ({
  pages: [{ startedDateTime: at(startMs), id: 'page_1', title: '', pageTimings, ...extra }],
});

const log = (creator: string, rest: object, entries: object[]) => ({
  log: { version: '1.2', creator: { name: creator, version: '1' }, ...rest, entries },
});

const onNetwork = (protocol: Protocol) => requestsOf(protocol).filter(({ cached }) => !cached);
const EVENTS = { onContentLoad: PARSED_MS, onLoad: LOADED_MS };

/** Sizes of bodies and headers, both known. */
const sizes = ({ bodyBytes }: Asked) => ({ bodySize: bodyBytes, headersSize: HEADER_BYTES });

function devTools(asked: Asked, protocol: Protocol, response: object, extra: object): object {
  const initiator =
    asked.type === 'document' ? { type: 'other' } : { type: 'parser', url: PAGE_URL, lineNumber: 1 };
  return {
    pageref: 'page_1',
    startedDateTime: at(asked.startMs),
    time: totalMsOf(asked),
    request: requestOf(asked, alpn(protocol)),
    response: responseOf(asked, alpn(protocol), response),
    cache: {},
    timings: { ...timingsOf(asked), _blocked_queueing: 0 },
    serverIPAddress: '192.0.2.1',
    _initiator: initiator,
    _priority: asked.priority,
    _resourceType: asked.type,
    ...extra,
  };
}

const chrome: Dialect = {
  name: 'Chrome DevTools, 2024',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) =>
    log(
      'WebInspector',
      inPage(0, EVENTS, { title: PAGE_URL }),
      requestsOf(protocol).map((asked) => {
        const transferred = asked.cached ? 0 : asked.bodyBytes + HEADER_BYTES;
        const response = { headersSize: -1, bodySize: -1, _transferSize: transferred };
        const origin = { connection: '443', _connectionId: asked.connection };
        return devTools(asked, protocol, response, asked.cached ? { _fromCache: 'memory' } : origin);
      }),
    ),
};

const chrome2018: Dialect = {
  name: 'Chrome DevTools, 2018',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) =>
    log(
      'WebInspector',
      inPage(0, EVENTS, { title: PAGE_URL }),
      requestsOf(protocol).map((asked) => {
        const none = { httpVersion: 'unknown', headersSize: -1, bodySize: 0, _transferSize: 0 };
        const some = { ...sizes(asked), _transferSize: asked.bodyBytes + HEADER_BYTES };
        const connection = asked.cached ? {} : { connection: asked.connection };
        return devTools(asked, protocol, asked.cached ? none : some, connection);
      }),
    ),
};

const chrome2012: Dialect = {
  name: 'Chrome DevTools, 2012',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: false,
  write: (protocol) =>
    log(
      'WebInspector',
      inPage(0, EVENTS),
      requestsOf(protocol).map((asked) => {
        const cached = { headersSize: HEADER_BYTES, bodySize: -HEADER_BYTES };
        return {
          pageref: 'page_1',
          startedDateTime: at(asked.startMs),
          time: totalMsOf(asked),
          request: requestOf(asked, 'HTTP/1.1'),
          response: responseOf(asked, 'HTTP/1.1', asked.cached ? cached : sizes(asked)),
          cache: {},
          timings: asked.cached ? { blocked: 0, receive: 0 } : timingsOf(asked),
        };
      }),
    ),
};

const firefox: Dialect = {
  name: 'Firefox',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) =>
    log(
      'Firefox',
      inPage(0, EVENTS),
      requestsOf(protocol).map((asked) => {
        const version = protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2';
        const tlsMs = Math.max(0, tlsMsOf(asked));
        const timings = {
          blocked: 0,
          dns: Math.max(0, dnsMsOf(asked)),
          connect: tlsMs,
          ssl: tlsMs,
          send: 0,
          wait: asked.waitMs,
          receive: asked.receiveMs,
        };
        const transferred = { bodySize: asked.bodyBytes + HEADER_BYTES, headersSize: HEADER_BYTES };
        return {
          pageref: 'page_1',
          startedDateTime: at(asked.startMs),
          request: requestOf(asked, version, [
            { name: 'Sec-Fetch-Dest', value: asked.destination },
            { name: 'Sec-Fetch-Mode', value: asked.type === 'document' ? 'navigate' : 'no-cors' },
          ]),
          response: asked.cached
            ? responseOf(asked, '', { bodySize: -1, headersSize: -1 })
            : responseOf(asked, version, transferred),
          cache: {},
          timings: asked.cached ? {} : timings,
          time: asked.cached ? 0 : totalMsOf(asked),
          _securityState: 'secure',
          serverIPAddress: '192.0.2.1',
          connection: '443',
        };
      }),
    ),
};

const bidi: Dialect = {
  name: 'Firefox by WebDriver BiDi',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) => {
    const initial = { startedDateTime: at(-900), id: 'page_0', title: '(initial page)', pageTimings: {} };
    const { pages } = inPage(0, { onContentLoad: PARSED_MS, onLoad: LOADED_MS }, { title: PAGE_URL });
    const blank = { ...requestsOf(protocol)[0]!, url: 'data:text/html;charset=utf-8,', startMs: -900 };
    const entryOf = (asked: Asked, pageref: string) => {
      const version = asked.cached ? '?' : alpn(protocol);
      const tlsMs = Math.max(0, tlsMsOf(asked));
      const timings = {
        blocked: 0,
        dns: Math.max(0, dnsMsOf(asked)),
        connect: tlsMs,
        ssl: tlsMs,
        send: 0,
        wait: asked.waitMs,
        receive: asked.receiveMs,
      };
      const none = Object.fromEntries(Object.keys(timings).map((phase) => [phase, 0]));
      const isDocument = asked.type === 'document';
      return {
        pageref,
        startedDateTime: at(asked.startMs),
        request: requestOf(asked, version, [
          { name: 'Sec-Fetch-Dest', value: asked.destination },
          { name: 'Sec-Fetch-Mode', value: isDocument ? 'navigate' : 'no-cors' },
        ]),
        response: responseOf(asked, version, {
          headersSize: asked.cached ? 0 : HEADER_BYTES,
          bodySize: asked.cached ? 0 : asked.bodyBytes + HEADER_BYTES,
        }),
        cache: {},
        timings: asked.cached ? none : timings,
        time: asked.cached ? 0 : totalMsOf(asked),
      };
    };
    const entries = requestsOf(protocol).map((asked) => entryOf(asked, 'page_1'));
    return log('firefox', { pages: [initial, ...pages] }, [entryOf(blank, 'page_0'), ...entries]);
  },
};

const safari: Dialect = {
  name: 'Safari',
  timesConnecting: true,
  hasLoadEvent: false,
  hasH2: true,
  write: (protocol) =>
    log(
      'WebKit Web Inspector',
      // Its clock began 15 seconds before the page.
      inPage(0, { onContentLoad: 15_000 + PARSED_MS, onLoad: 15_000 + LOADED_MS }, { title: PAGE_URL }),
      requestsOf(protocol).map((asked) => ({
        pageref: 'page_1',
        startedDateTime: at(asked.startMs - (asked.opening === null ? 3 : 0)),
        time: totalMsOf(asked) + (asked.opening === null ? 3 : 0),
        request: requestOf(asked, protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2'),
        response: responseOf(asked, protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2', {
          ...sizes(asked),
          _transferSize: asked.cached ? 0 : asked.bodyBytes + HEADER_BYTES,
        }),
        cache: {},
        // What a request was blocked for counts as sending, too, where its connection was open.
        timings: { ...timingsOf(asked), ...(asked.opening === null && { blocked: 3, send: 3 }) },
        _fetchType: asked.cached ? 'Memory Cache' : 'Network Load',
        connection: asked.connection,
      })),
    ),
};

const explorer: Dialect = {
  name: 'Internet Explorer 11',
  timesConnecting: false,
  hasLoadEvent: true,
  hasH2: false,
  write: (protocol) => {
    // Milliseconds without zeros before them.
    const unpadded = (ms: number) => at(ms).replace(/\.0{0,2}(\d+)Z$/, '.$1+00:00');
    return log(
      'Internet Explorer Network Inspector',
      {
        pages: [{ startedDateTime: unpadded(0), id: '0', title: '', pageTimings: EVENTS }],
        browser: { name: 'Internet Explorer', version: '11' },
      },
      onNetwork(protocol).map((asked) => ({
        pageref: '0',
        startedDateTime: unpadded(asked.startMs),
        time: totalMsOf(asked),
        cache: {},
        timings: {
          blocked: -1,
          dns: -1,
          connect: -1,
          ssl: -1,
          send: openMsOf(asked),
          wait: asked.waitMs,
          receive: asked.receiveMs,
        },
        request: requestOf(asked, 'HTTP/1.1'),
        response: responseOf(asked, 'HTTP/1.1', sizes(asked)),
      })),
    );
  },
};

const webPageTest: Dialect = {
  name: 'WebPageTest',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) =>
    log(
      'WebPagetest',
      inPage(
        0,
        { onLoad: LOADED_MS, onContentLoad: -1 },
        { _URL: PAGE_URL, _loadTime: LOADED_MS, _domContentLoadedEventStart: PARSED_MS },
      ),
      onNetwork(protocol).map((asked) => {
        const { startMs, opening } = asked;
        const loadMs = startMs + openMsOf(asked);
        const connectMs = startMs + (opening?.dnsMs ?? 0);
        const opens = opening !== null && {
          ...(opening.dnsMs > 0 && { _dns_start: `${startMs}`, _dns_end: `${connectMs}` }),
          _connect_start: `${connectMs}`,
          _connect_end: `${connectMs + tlsMsOf(asked)}`,
          _ssl_start: `${connectMs + tlsMsOf(asked)}`,
          _ssl_end: `${loadMs}`,
        };
        return {
          pageref: 'page_1',
          startedDateTime: at(startMs),
          time: totalMsOf(asked),
          request: requestOf(asked, ''),
          response: responseOf(asked, protocol === 'h1' ? '1.1' : '', sizes(asked)),
          cache: {},
          timings: timingsOf(asked),
          _all_start: startMs,
          _load_start: `${loadMs}`,
          _ttfb_start: `${loadMs}`,
          _ttfb_end: loadMs + asked.waitMs,
          _load_end: loadMs + asked.waitMs + asked.receiveMs,
          ...opens,
          _bytesIn: `${asked.bodyBytes + HEADER_BYTES}`,
          _socket: asked.connection,
          _protocol: protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2',
          _contentType: asked.mimeType,
          _initiator: asked.type === 'document' ? '' : PAGE_URL,
          _priority: asked.priority,
        };
      }),
    ),
};

const chromeHar: Dialect = {
  name: 'chrome-har (Browsertime, sitespeed.io, puppeteer-har)',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) =>
    log(
      'chrome-har',
      inPage(0, { ...EVENTS, _firstContentfulPaint: 300 }),
      requestsOf(protocol).map((asked) => {
        const transferred = asked.cached ? 0 : asked.bodyBytes + HEADER_BYTES;
        const lastAccess = { beforeRequest: { lastAccess: at(asked.startMs), eTag: '', hitCount: 0 } };
        return {
          pageref: 'page_1',
          // When the network stack began, after the wait that it names.
          startedDateTime: at(asked.startMs + 2),
          time: totalMsOf(asked) - 2,
          request: requestOf(asked, alpn(protocol)),
          response: responseOf(asked, alpn(protocol), {
            headersSize: -1,
            bodySize: transferred,
            _transferSize: transferred,
          }),
          cache: asked.cached ? lastAccess : {},
          timings: { ...timingsOf(asked), wait: asked.waitMs - (asked.cached ? 0 : 2), _queued: 2 },
          connection: asked.connection,
          _resourceType: asked.type,
          _initiator_type: asked.type === 'document' ? 'other' : 'parser',
          ...(asked.type !== 'document' && { _initiator: PAGE_URL }),
          _priority: asked.priority,
        };
      }),
    ),
};

const playwright: Dialect = {
  name: 'Playwright',
  timesConnecting: true,
  hasLoadEvent: true,
  hasH2: true,
  write: (protocol) => {
    const version = protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2.0';
    // The page object was made five seconds before it navigated, and the test asked its server for something.
    const own = requestsOf(protocol)[0]!;
    const asked: Asked = { ...own, url: 'https://api.test/reset', startMs: -2_000 };
    const entryOf = (each: Asked) => ({
      startedDateTime: at(each.startMs),
      // TLS counts twice.
      time: totalMsOf(each) + Math.max(0, tlsMsOf(each)),
      request: requestOf(each, version, [{ name: 'sec-fetch-dest', value: each.destination }]),
      response: responseOf(each, version, {
        ...sizes(each),
        _transferSize: each.bodyBytes + HEADER_BYTES,
      }),
      cache: {},
      timings: {
        dns: dnsMsOf(each),
        connect: connectMsOf(each),
        ssl: tlsMsOf(each),
        send: 0,
        wait: each.waitMs,
        receive: each.receiveMs,
      },
      serverIPAddress: '192.0.2.1',
    });
    return log(
      'Playwright',
      {
        browser: { name: 'chromium', version: '140.0' },
        ...inPage(-5_000, { onContentLoad: 5_000 + PARSED_MS, onLoad: 5_000 + LOADED_MS }, { title: 'Shop' }),
      },
      [
        { ...entryOf(asked), _apiRequest: true },
        ...onNetwork(protocol).map((each) => ({ ...entryOf(each), pageref: 'page_1' })),
      ],
    );
  },
};

/** A proxy's file: no pages, no initiators. */
function proxied(
  name: string,
  hasH2: boolean,
  {
    version,
    timings,
    page,
    delayMs = () => 0,
  }: {
    version: string;
    timings: (asked: Asked) => object;
    page?: object;
    /** How long after a request was issued the proxy had read it. */
    delayMs?: (asked: Asked) => number;
  },
): Dialect {
  return {
    name,
    timesConnecting: name !== 'HTTP Toolkit',
    hasLoadEvent: false,
    hasH2,
    write: (protocol) =>
      log(
        name,
        page ?? { pages: [] },
        onNetwork(protocol).map((asked) => {
          const httpVersion = protocol === 'h1' ? 'HTTP/1.1' : version;
          return {
            ...(page && { pageref: 'page_1' }),
            startedDateTime: at(asked.startMs + delayMs(asked)),
            time: totalMsOf(asked),
            request: requestOf(asked, httpVersion),
            response: responseOf(asked, httpVersion, sizes(asked)),
            cache: {},
            timings: timings(asked),
          };
        }),
      ),
  };
}

/** Zero for phases that did not take place. */
const zeroed = (asked: Asked) =>
  Object.fromEntries(Object.entries(timingsOf(asked)).map(([phase, ms]) => [phase, Math.max(0, ms)]));

/** It resolves a name and connects before it reads a request, and counts connecting alone. */
const mitmproxy = proxied('mitmproxy', true, {
  version: 'HTTP/2.0',
  delayMs: openMsOf,
  timings: (asked) => ({
    connect: asked.opening === null ? -1 : asked.opening.dnsMs + tlsMsOf(asked),
    ssl: tlsMsOf(asked),
    send: 0,
    receive: asked.receiveMs,
    wait: asked.waitMs,
  }),
});
const charles = proxied('Charles Proxy', true, { version: 'HTTP/2.0', timings: timingsOf });
const fiddler = proxied('Fiddler', false, { version: 'HTTP/1.1', timings: zeroed });
const httpToolkit = proxied('HTTP Toolkit', true, {
  version: 'HTTP/2.0',
  timings: (asked) => ({
    blocked: -1,
    dns: -1,
    connect: -1,
    ssl: -1,
    send: 0,
    wait: openMsOf(asked) + asked.waitMs,
    receive: asked.receiveMs,
  }),
  page: inPage(0, {}, { title: 'Chrome' }),
});
/** It opens a tunnel, and sets up TLS with the server, before it reads a request. */
const browserMob = proxied('BrowserMob Proxy', false, {
  version: 'HTTP/1.1',
  delayMs: openMsOf,
  timings: (asked) => ({ ...timingsOf(asked), comment: '' }),
  // The capture began three seconds before the navigation, and ended six seconds after it.
  page: inPage(-3_000, { onLoad: 9_000, comment: '' }),
});
const pcap2har = proxied('pcap2har', false, {
  version: 'HTTP/1.1',
  timings: (asked) => ({ ...timingsOf(asked), blocked: -1, ssl: undefined }),
});

const FIRST_PART_BYTES = 1_448;

const phantom: Dialect = {
  name: 'PhantomJS',
  timesConnecting: false,
  hasLoadEvent: true,
  hasH2: false,
  write: (protocol) =>
    log(
      'PhantomJS',
      // The page starts after its first request.
      {
        pages: [
          { startedDateTime: at(9), id: PAGE_URL, title: 'Shop', pageTimings: { onLoad: LOADED_MS - 9 } },
        ],
      },
      onNetwork(protocol).map((asked) => ({
        pageref: PAGE_URL,
        startedDateTime: at(asked.startMs),
        time: totalMsOf(asked),
        request: requestOf(asked, 'HTTP/1.1', [{ name: 'Accept', value: '*/*' }]),
        // The size is that of the first part to arrive.
        response: responseOf(asked, 'HTTP/1.1', {
          headersSize: -1,
          bodySize: FIRST_PART_BYTES,
          content: { size: FIRST_PART_BYTES, mimeType: asked.mimeType },
          headers: [{ name: 'Content-Length', value: `${asked.bodyBytes}` }],
        }),
        cache: {},
        timings: {
          blocked: 0,
          dns: -1,
          connect: -1,
          send: 0,
          wait: openMsOf(asked) + asked.waitMs,
          receive: asked.receiveMs,
          ssl: -1,
        },
      })),
    ),
};

/** Qt's events alone: when a request was made, its headers had come, and it had ended; `send` is what rounding leaves of its time. */
const splash: Dialect = {
  name: 'Splash',
  timesConnecting: false,
  hasLoadEvent: true,
  hasH2: false,
  write: (protocol) =>
    log(
      'Splash',
      {
        pages: [
          {
            startedDateTime: at(0),
            id: '1',
            title: 'Shop',
            pageTimings: { _onStarted: 0, ...EVENTS, _onPrepareStart: LOADED_MS },
          },
        ],
      },
      onNetwork(protocol).map((asked, index) => ({
        _splash_processing_state: 'finished',
        pageref: '1',
        startedDateTime: at(asked.startMs),
        time: totalMsOf(asked),
        request: requestOf(asked, 'HTTP/1.1', [{ name: 'Accept', value: '*/*' }]),
        response: responseOf(asked, 'HTTP/1.1', sizes(asked)),
        cache: {},
        timings: {
          blocked: -1,
          dns: -1,
          connect: -1,
          ssl: -1,
          send: index % 2,
          wait: openMsOf(asked) + asked.waitMs - (index % 2),
          receive: asked.receiveMs,
        },
      })),
    ),
};

export const DIALECTS: readonly Dialect[] = [
  chrome,
  chrome2018,
  chrome2012,
  firefox,
  bidi,
  safari,
  explorer,
  webPageTest,
  chromeHar,
  playwright,
  mitmproxy,
  charles,
  fiddler,
  httpToolkit,
  browserMob,
  phantom,
  splash,
  pcap2har,
];
