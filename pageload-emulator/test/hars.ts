/** Small HARs in the ways that different recorders write them. */

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

/** One entry as Chromium's DevTools export it. */
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

/** A document, a stylesheet that asks for a font, and a script that asks for an image through a promise. */
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
