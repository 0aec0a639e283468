/** Small HARs in the variants of different recorders. */

export const START = '2026-01-05T10:00:00.000Z';

function at(ms: number): string {
  return new Date(Date.parse(START) + ms).toISOString();
}

export interface HarTimings {
  blocked?: number;
  dns?: number;
  connect?: number;
  ssl?: number;
  send?: number;
  wait?: number;
  receive?: number;
}

/** One entry as exported by Chromium's DevTools. */
export function chromiumEntry(url: string, startMs: number, timings: HarTimings, extra: object = {}): object {
  const all = { blocked: 0, dns: -1, connect: -1, ssl: -1, send: 0, wait: 50, receive: 0, ...timings };
  const spans = [all.blocked, all.dns, all.connect, all.send, all.wait, all.receive];
  return {
    startedDateTime: at(startMs),
    time: spans.reduce((sum, span) => sum + Math.max(0, span), 0),
    request: {
      method: 'GET',
      url,
      httpVersion: 'h2',
      headers: [],
      cookies: [],
      queryString: [],
      headersSize: -1,
      bodySize: 0,
    },
    response: {
      status: 200,
      statusText: '',
      httpVersion: 'h2',
      headers: [{ name: 'alt-svc', value: 'h3=":443"; ma=86400' }],
      cookies: [],
      content: { size: 30_000, mimeType: 'text/html', compression: 20_000 },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      _transferSize: 10_300,
    },
    cache: {},
    timings: all,
    serverIPAddress: '192.0.2.1',
    connection: '443',
    ...extra,
  };
}

export function harOf(entries: object[], pageTimings: object = { onLoad: 500, onContentLoad: 300 }): object {
  return {
    log: {
      version: '1.2',
      creator: { name: 'WebInspector', version: '537.36' },
      pages: [{ id: 'page_1', startedDateTime: START, title: '', pageTimings }],
      entries,
    },
  };
}

/** A document, a stylesheet that requests a font, and a script that requests an image through a promise. */
export function chromiumHar(): object {
  const parser = { type: 'parser', url: 'https://shop.test/', lineNumber: 3 };
  return harOf([
    chromiumEntry(
      'https://shop.test/',
      0,
      { dns: 5, connect: 60, ssl: 30, wait: 80, receive: 20 },
      {
        _initiator: { type: 'other' },
        _resourceType: 'document',
        _priority: 'VeryHigh',
        _connectionId: '11',
      },
    ),
    chromiumEntry(
      'https://shop.test/a.css',
      150,
      { wait: 30, receive: 10 },
      {
        _initiator: parser,
        _resourceType: 'stylesheet',
        _priority: 'VeryHigh',
        _connectionId: '11',
      },
    ),
    chromiumEntry(
      'https://cdn.test/app.js',
      150,
      { connect: 80, ssl: 40, wait: 50, receive: 10 },
      {
        _initiator: parser,
        _resourceType: 'script',
        _priority: 'Low',
        _connectionId: '12',
      },
    ),
    chromiumEntry(
      'https://shop.test/f.woff2#iefix',
      195,
      { wait: 35 },
      {
        _initiator: { type: 'parser', url: 'https://shop.test/a.css' },
        _resourceType: 'font',
      },
    ),
    chromiumEntry(
      'https://cdn.test/late.png',
      310,
      { wait: 60, receive: 5 },
      {
        _initiator: {
          type: 'script',
          stack: {
            callFrames: [],
            parent: { description: 'await', callFrames: [{ url: 'https://cdn.test/app.js' }] },
          },
        },
        _resourceType: 'image',
      },
    ),
    chromiumEntry('data:image/png;base64,AAAA', 320, {}, { _resourceType: 'image' }),
    chromiumEntry('https://shop.test/beacon', 600, {}, { _resourceType: 'ping' }),
  ]);
}

/** The same kind of page as written by WebPageTest: absolute times, numbers as strings, initiators as URLs. */
export function webPageTestHar(): object {
  const entry = (url: string, startMs: number, contentType: string, extra: object = {}) => ({
    pageref: 'page_1',
    startedDateTime: at(startMs),
    time: 100,
    request: { method: 'GET', url, headersSize: 300, bodySize: -1, headers: [] },
    response: {
      status: 200,
      httpVersion: '1.1',
      headersSize: 200,
      bodySize: 5_000,
      headers: [{ name: 'alt-svc', value: 'h3=":443"' }],
      content: { size: 5_000, mimeType: contentType },
    },
    timings: { blocked: -1, dns: -1, connect: 40, ssl: -1, send: 0, wait: 60, receive: 20 },
    _all_start: startMs,
    _load_start: `${startMs + 50}`,
    _ttfb_start: `${startMs + 50}`,
    _ttfb_end: startMs + 80,
    _load_end: startMs + 100,
    _connect_start: `${startMs + 10}`,
    _connect_end: `${startMs + 30}`,
    _ssl_start: startMs + 30,
    _ssl_end: startMs + 50,
    _bytesIn: '5200',
    _socket: '7',
    _contentType: contentType,
    _protocol: 'HTTP/2',
    _priority: 'MEDIUM',
    ...extra,
  });
  return harOf([
    entry('https://wpt.test/', 100, 'text/html', { _initiator: '' }),
    entry('https://wpt.test/s.css', 210, 'text/css', { _initiator: 'https://wpt.test/' }),
    entry('https://cdn.test/i.png', 320, 'image/png', { _initiator: 'https://wpt.test/s.css' }),
    entry('https://wpt.test/api', 420, 'application/json'),
  ]);
}

/** The same kind of page as written by Firefox: no initiators, types in the request headers. */
export function firefoxHar(): object {
  const entry = (url: string, startMs: number, dest: string, timings: HarTimings = {}) => ({
    pageref: 'page_1',
    startedDateTime: at(startMs),
    time: 60,
    request: {
      method: 'GET',
      url,
      httpVersion: 'HTTP/3',
      headers: [{ name: 'Sec-Fetch-Dest', value: dest }],
      headersSize: 400,
      bodySize: 0,
    },
    response: {
      status: 200,
      httpVersion: 'HTTP/3',
      headers: [],
      redirectURL: '',
      headersSize: 300,
      bodySize: 4_300,
      content: { mimeType: 'text/plain', size: 9_000 },
    },
    cache: {},
    timings: { blocked: 1, dns: 2, connect: 10, ssl: 9, send: 0, wait: 30, receive: 5, ...timings },
    serverIPAddress: '192.0.2.7',
    connection: '443',
  });
  const har = harOf([
    entry('https://fox.test/', 0, 'document'),
    entry('https://fox.test/s.css', 70, 'style'),
    entry('https://fox.test/frame', 75, 'iframe'),
    entry('https://other.test/a.js', 80, 'script', { dns: 0, connect: 0, ssl: 0 }),
    entry('https://fox.test/f.woff2', 150, 'font'),
  ]) as { log: { creator: object; browser?: object } };
  har.log.creator = { name: 'Firefox', version: '153.0' };
  return har;
}
