/** Small Chrome traces, as the Performance panel saves them. */

const FRAME = 'F1';
/** On the trace's clock, microseconds. */
const BEGAN_TS = 5_000_000;
/** Unix time of the same moment, milliseconds. */
const BEGAN_MS = Date.parse('2026-01-05T10:00:00.000Z');

const ts = (ms: number) => BEGAN_TS + 1_000 * ms;

export function event(name: string, ms: number, data: object, frame = FRAME): object {
  return { name, ph: 'I', cat: 'devtools.timeline', pid: 1, tid: 1, ts: ts(ms), args: { frame, data } };
}

export const navigation = (url: string, ms = 0, frame = FRAME): object =>
  event(
    'navigationStart',
    ms,
    { documentLoaderURL: url, navigationId: `N${ms}`, isOutermostMainFrame: frame === FRAME },
    frame,
  );

interface Traced {
  id: string;
  url: string;
  type: string;
  mimeType: string;
  issuedMs: number;
  /** From its issue to the network stack's first step. */
  queuedMs?: number;
  opensMs?: number;
  waitMs: number;
  receiveMs: number;
  bytes: number;
  frame?: string;
  sent?: object;
  answer?: object;
}

/** The events of one request. */
export function request(traced: Traced): object[] {
  const { id, url, type, mimeType, issuedMs, queuedMs = 0, opensMs = 0, waitMs, receiveMs, bytes } = traced;
  const frame = traced.frame ?? FRAME;
  const requestMs = issuedMs + queuedMs;
  const begunMs = requestMs + opensMs + waitMs;
  const endMs = begunMs + receiveMs;
  const opens = opensMs > 0;
  const timing = {
    requestTime: ts(requestMs) / 1e6,
    dnsStart: -1,
    dnsEnd: -1,
    connectStart: opens ? 0 : -1,
    connectEnd: opens ? opensMs : -1,
    sslStart: opens ? opensMs / 2 : -1,
    sslEnd: opens ? opensMs : -1,
    sendStart: opensMs,
    sendEnd: opensMs,
    receiveHeadersStart: opensMs + waitMs,
    receiveHeadersEnd: opensMs + waitMs,
  };
  // A document is announced when its answer has arrived.
  const sentMs = type === 'Document' ? begunMs : issuedMs;
  return [
    event('ResourceSendRequest', sentMs, {
      requestId: id,
      url,
      frame,
      resourceType: type,
      requestMethod: 'GET',
      priority: 'High',
      ...traced.sent,
    }),
    event('ResourceReceiveResponse', begunMs, {
      requestId: id,
      frame,
      statusCode: 200,
      mimeType,
      protocol: 'h2',
      fromCache: false,
      connectionId: 7,
      headers: [{ name: 'alt-svc', value: 'h3=":443"' }],
      timing,
      responseTime: BEGAN_MS + begunMs,
      ...traced.answer,
    }),
    event('ResourceFinish', endMs, {
      requestId: id,
      didFail: false,
      encodedDataLength: bytes,
      decodedBodyLength: 3 * bytes,
      finishTime: ts(endMs) / 1e6,
    }),
  ];
}

/** A page of four requests, two of which begin as the document arrives, among a frame's. */
export function traceEvents(): object[] {
  const parser = { initiator: { type: 'parser', url: 'https://a.test/', fetchType: 'link' } };
  return [
    navigation('https://a.test/'),
    ...request({
      id: '1',
      url: 'https://a.test/',
      type: 'Document',
      mimeType: 'text/html',
      issuedMs: 4,
      opensMs: 60,
      waitMs: 80,
      receiveMs: 20,
      bytes: 20_000,
    }),
    ...request({
      id: '2',
      url: 'https://a.test/a.css',
      type: 'Stylesheet',
      mimeType: 'text/css',
      issuedMs: 150,
      queuedMs: 5,
      waitMs: 40,
      receiveMs: 10,
      bytes: 8_000,
      sent: { ...parser, renderBlocking: 'blocking' },
    }),
    ...request({
      id: '3',
      url: 'https://a.test/api',
      type: 'Other',
      mimeType: 'application/json',
      issuedMs: 220,
      waitMs: 40,
      receiveMs: 10,
      bytes: 900,
      sent: {
        initiator: { type: 'script', fetchType: 'fetch' },
        stackTrace: [{ url: 'https://a.test/', functionName: '' }],
      },
    }),
    ...request({
      id: '4',
      url: 'https://ad.test/',
      type: 'Document',
      mimeType: 'text/html',
      issuedMs: 230,
      waitMs: 40,
      receiveMs: 10,
      bytes: 900,
      frame: 'F2',
    }),
    ...request({
      id: '5',
      url: 'https://a.test/i.png',
      type: 'Image',
      mimeType: 'image/png',
      issuedMs: 240,
      waitMs: 1,
      receiveMs: 0,
      bytes: 0,
      answer: { fromCache: true, timing: null, connectionId: 0 },
    }),
    // Events of the page that was left, of a frame, and of the page.
    event('domContentLoadedEventEnd', 2, {}),
    event('domContentLoadedEventEnd', 210, {}),
    event('loadEventEnd', 250, {}, 'F2'),
    event('firstContentfulPaint', 215, {}),
    event('largestContentfulPaint::Candidate', 216, {}),
    event('largestContentfulPaint::Candidate', 290, {}),
    event('loadEventEnd', 300, {}),
  ];
}

/** Events of other kinds, whose names and strings resemble those of the ones that count. */
export const NOISE: readonly object[] = [
  event('RunTask', 10, { name: 'ResourceFinish', text: '{"name":"loadEventEnd"}' }),
  event('Screenshot', 20, { snapshot: 'x'.repeat(10_000) }),
  {
    name: 'thread_name',
    ph: 'M',
    ts: 0,
    args: { name: 'CrRendererMain', list: [[{ name: 'navigationStart' }]] },
  },
];
