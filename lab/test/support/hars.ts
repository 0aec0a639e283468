/** HARs made for tests, as Chromium's DevTools export them. */

const START = Date.parse('2026-03-02T09:00:00.000Z');

interface HarRequest {
  url: string;
  startMs: number;
  /** 60 unless given; half of it is waiting. */
  durationMs?: number;
  type?: string;
  mimeType?: string;
  method?: string;
  status?: number;
  bytes?: number;
  /** URL of the initiator, and its type. */
  by?: [type: 'parser' | 'script', url: string];
  /** Fields that replace or extend the entry's own. */
  extra?: object;
}

export function harEntry(request: HarRequest): object {
  const { url, startMs, durationMs = 60, type, by, bytes = 5000 } = request;
  return {
    startedDateTime: new Date(START + startMs).toISOString(),
    time: durationMs,
    pageref: 'page_1',
    request: { method: request.method ?? 'GET', url, httpVersion: 'h2', headers: [] },
    response: {
      status: request.status ?? 200,
      httpVersion: 'h2',
      headers: [],
      content: { size: bytes, mimeType: request.mimeType ?? 'text/html' },
      bodySize: bytes,
      redirectURL: '',
    },
    timings: {
      blocked: 0,
      dns: -1,
      connect: -1,
      ssl: -1,
      send: 0,
      wait: durationMs / 2,
      receive: durationMs / 2,
    },
    ...(type === undefined ? {} : { _resourceType: type }),
    ...(by === undefined ? {} : { _initiator: { type: by[0], url: by[1] } }),
    ...request.extra,
  };
}

export interface HarLog {
  log: { pages?: object[]; entries: object[] };
}

export function harOf(entries: object[], pageTimings: object = { onLoad: 2000 }): HarLog {
  return {
    log: {
      pages: [{ id: 'page_1', startedDateTime: new Date(START).toISOString(), pageTimings }],
      entries,
    },
  };
}

/** A small page: a document, a script and a stylesheet in it, an image and a call made by the script. */
export const smallPage: HarRequest[] = [
  { url: 'https://a.example/', startMs: 0, durationMs: 120, type: 'document', bytes: 9000 },
  {
    url: 'https://a.example/a.css',
    startMs: 90,
    type: 'stylesheet',
    mimeType: 'text/css',
    by: ['parser', 'https://a.example/'],
  },
  {
    url: 'https://a.example/a.js',
    startMs: 95,
    type: 'script',
    mimeType: 'text/javascript',
    by: ['parser', 'https://a.example/'],
  },
  {
    url: 'https://b.example/1.png',
    startMs: 180,
    type: 'image',
    mimeType: 'image/png',
    by: ['script', 'https://a.example/a.js'],
  },
  {
    url: 'https://a.example/data',
    startMs: 190,
    type: 'fetch',
    mimeType: 'application/json',
    method: 'POST',
    by: ['script', 'https://a.example/a.js'],
  },
];

/** A page of many requests on many origins, found by the document, by scripts and by frames in turn. */
export function largeHar(requests: number, origins: number): HarLog {
  const page = 'https://www.example/';
  const entries: HarRequest[] = [{ url: page, startMs: 0, durationMs: 300, type: 'document', bytes: 80_000 }];
  const scripts: { url: string; endMs: number }[] = [];
  for (let index = 1; index < requests; index++) {
    const host = `https://h${index % origins}.example`;
    const script = index % 5 === 0 ? scripts[Math.floor(scripts.length / 2)] : undefined;
    const startMs = script === undefined ? 150 + index / 10 : script.endMs + 5 + index / 4;
    const asScript = index % 6 === 1;
    const url = `${host}/${index}.${asScript ? 'js' : 'png'}`;
    if (asScript) scripts.push({ url, endMs: startMs + 60 });
    entries.push({
      url,
      startMs,
      type: asScript ? 'script' : 'image',
      mimeType: asScript ? 'text/javascript' : 'image/png',
      bytes: asScript ? 4000 : 2500,
      by: script === undefined ? ['parser', page] : ['script', script.url],
    });
  }
  return harOf(entries.map(harEntry), { onLoad: 4000 });
}
