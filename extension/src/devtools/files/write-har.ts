import type { InitiatorKind, RecordedRequest, Recording, ResourceType } from '@hopwise/contract';

/** HAR's word for what is not known or did not take place. */
const UNKNOWN = -1;

/** `httpVersion` as Chromium's DevTools write it. */
const HTTP_VERSION = { h1: 'http/1.1', h2: 'h2', h3: 'h3' } as const;
/** Chromium's names of RFC 9218 urgencies 0 to 4; it uses no other ones. */
const PRIORITY = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow'] as const;
/** DevTools' names of resource types. */
const RESOURCE_TYPE: Record<ResourceType, string> = {
  document: 'document',
  iframe: 'document',
  style: 'stylesheet',
  script: 'script',
  font: 'font',
  image: 'image',
  media: 'media',
  fetch: 'fetch',
  beacon: 'ping',
  other: 'other',
};
/** DevTools' names of initiators; redirects are in `redirectURL`, the navigation has none. */
const INITIATOR_TYPE: Partial<Record<InitiatorKind, string>> = {
  parser: 'parser',
  style: 'parser',
  preload: 'preload',
  script: 'script',
  other: 'other',
};

const PAGE_ID = 'page_1';

/**
 * A recording as a HAR 1.2 (w3c.github.io/web-performance/specs/HAR/Overview.html) with the extra fields of Chromium's DevTools.
 *
 * HAR's phases follow each other without gaps, so that waits between phases are in `blocked`: sending, waiting and receiving
 * keep their exact times, name resolution and handshake their lengths. Cookies and header values are not recorded; the one header
 * that is written states an offer of HTTP/3.
 *
 * @param version of hopwise
 */
export function writeHar(recording: Recording, version: string): object {
  const startMs = Number.isNaN(Date.parse(recording.recordedAt)) ? 0 : Date.parse(recording.recordedAt);
  const targets = new Map(
    recording.requests.flatMap(({ url, initiator: { kind, requestId } }) =>
      kind === 'redirect' && requestId !== null ? [[requestId, url]] : [],
    ),
  );
  const [browser = '', ...browserVersion] = recording.browser.split(' ');
  return {
    log: {
      version: '1.2',
      creator: { name: 'hopwise', version },
      ...(browser !== '' && { browser: { name: browser, version: browserVersion.join(' ') } }),
      pages: [
        {
          id: PAGE_ID,
          startedDateTime: new Date(startMs).toISOString(),
          title: recording.url,
          pageTimings: {
            onContentLoad: recording.domContentLoadedMs,
            onLoad: recording.pltMs,
            _firstContentfulPaint: recording.firstContentfulPaintMs,
            _largestContentfulPaint: recording.largestContentfulPaintMs,
          },
        },
      ],
      entries: recording.requests.map((request) =>
        writeEntry(request, recording, { startMs, redirectUrl: targets.get(request.id) ?? '' }),
      ),
    },
  };
}

/** @param page its start in Unix time, milliseconds, and where the request was redirected to, '' for nowhere */
function writeEntry(
  request: RecordedRequest,
  { requests }: Recording,
  page: { startMs: number; redirectUrl: string },
): object {
  // Dates have whole milliseconds: the rest is counted into `blocked`.
  const startedMs = Math.floor(page.startMs + request.startMs);
  const startMs = startedMs - page.startMs;
  const httpVersion = request.protocol ? HTTP_VERSION[request.protocol] : '';
  return {
    pageref: PAGE_ID,
    startedDateTime: new Date(startedMs).toISOString(),
    time: request.endMs - startMs,
    request: {
      method: request.method,
      url: request.url,
      httpVersion,
      cookies: [],
      headers: [],
      queryString: [...new URL(request.url).searchParams].map(([name, value]) => ({ name, value })),
      headersSize: UNKNOWN,
      bodySize: request.requestBodyBytes ?? UNKNOWN,
    },
    response: {
      status: request.status,
      statusText: '',
      httpVersion,
      cookies: [],
      headers: request.offersH3 ? [{ name: 'alt-svc', value: 'h3=":443"' }] : [],
      content: { size: request.decodedBytes ?? UNKNOWN, mimeType: '' },
      redirectURL: page.redirectUrl,
      headersSize: headerBytes(request),
      bodySize: request.bodyBytes ?? UNKNOWN,
      ...(request.transferBytes !== null && { _transferSize: request.transferBytes }),
    },
    cache: {},
    timings: writeTimings(request, startMs),
    ...(request.remoteIp !== null && { serverIPAddress: request.remoteIp }),
    ...(request.connectionId !== null && { _connectionId: request.connectionId }),
    _requestId: String(request.id),
    _resourceType: RESOURCE_TYPE[request.type],
    ...writeInitiator(request, requests),
    ...(request.urgency != null && { _priority: PRIORITY[request.urgency] ?? 'VeryLow' }),
    ...(request.renderBlocking !== null && {
      _renderBlocking: request.renderBlocking ? 'blocking' : 'non_blocking',
    }),
    ...(request.fromCache && { _fromCache: 'disk' }),
  };
}

/** Bytes of the response's headers: what was transferred beside the body. */
function headerBytes({ transferBytes, bodyBytes }: RecordedRequest): number {
  const bytes = transferBytes === null || bodyBytes === null ? UNKNOWN : transferBytes - bodyBytes;
  return bytes >= 0 ? bytes : UNKNOWN;
}

/** @param startMs of the entry, milliseconds after navigationStart */
function writeTimings(
  { phases, endMs, requestBodyMs }: RecordedRequest,
  startMs: number,
): Record<string, number> {
  const { dnsStartMs, dnsEndMs, connectStartMs, secureStartMs, connectEndMs, responseStartMs } = phases;
  // A browser that withholds the phases leaves only the length of the request.
  if (responseStartMs === null) {
    return {
      blocked: UNKNOWN,
      dns: UNKNOWN,
      connect: UNKNOWN,
      ssl: UNKNOWN,
      send: 0,
      wait: UNKNOWN,
      receive: 0,
    };
  }
  const requestStartMs = phases.requestStartMs ?? startMs;
  const between = (fromMs: number | null, toMs: number | null) =>
    fromMs === null || toMs === null ? UNKNOWN : toMs - fromMs;
  const dns = between(dnsStartMs, dnsEndMs);
  const connect = between(connectStartMs, connectEndMs);
  const waitMs = Math.max(0, responseStartMs - requestStartMs);
  const send = Math.min(waitMs, requestBodyMs ?? 0);
  return {
    blocked: Math.max(0, requestStartMs - startMs - Math.max(0, dns) - Math.max(0, connect)),
    dns,
    connect,
    ssl: between(secureStartMs, connectEndMs),
    send,
    wait: waitMs - send,
    receive: Math.max(0, endMs - responseStartMs),
  };
}

/** `_inferred` marks an initiator that the browser did not report. */
function writeInitiator({ initiator }: RecordedRequest, requests: readonly RecordedRequest[]): object {
  const type = INITIATOR_TYPE[initiator.kind];
  if (type === undefined) return {};
  const by = initiator.requestId === null ? undefined : requests[initiator.requestId];
  return {
    _initiator: {
      type,
      ...(by && { url: by.url, requestId: String(by.id) }),
      ...(initiator.source === 'inferred' && { _inferred: true }),
    },
  };
}
