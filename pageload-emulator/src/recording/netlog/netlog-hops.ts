import { groupBy } from '@hopwise/contract';
import { isError, type NetLogEvent } from './netlog-events.ts';

/** One hop of a request: to a redirect, or to the answer. Times are on the log's clock, milliseconds. */
export interface NetLogHop {
  /** Of all hops of one request. */
  requestId: number;
  url: string;
  method: string;
  /** Whether it is for a tab's own document. */
  isMainFrame: boolean;
  /** The site of the tab that it is for; null where the log does not name it. */
  tabSite: string | null;
  priority: string | null;
  issuedMs: number;
  /** Whether a connection was asked for. */
  isForNetwork: boolean;
  /** When it had a connection; null where it was answered without one. */
  connectedMs: number | null;
  /** The QUIC session, or the step on the way to a socket, that led to its connection. */
  connectionId: number | null;
  /** The server's address with its port; null where the log does not name it. */
  endpoint: string | null;
  sentFromMs: number | null;
  /** When it left, with its body. */
  sentMs: number | null;
  hasBody: boolean;
  /** Lines of headers, HTTP/1.1's without the first. */
  requestHeaders: readonly string[];
  protocol: 'http/1.1' | 'h2' | 'h3' | null;
  /** The stream of HTTP/3. */
  streamId: number | null;
  answeredMs: number | null;
  status: number | null;
  responseHeaders: readonly string[];
  /** When the last part of its body was read. */
  readMs: number | null;
  /** When the request was closed, or sent on. */
  closedMs: number;
  /** Bytes of its body on the wire, of HTTP/2 streams alone, and after decompression. */
  bodyBytes: number;
  decodedBytes: number;
  /** Number of the error with which it ended; null without one. */
  error: number | null;
  /** The hop that a redirect led to. */
  next: NetLogHop | null;
}

/** Finds the hops of a NetLog's requests, in order of issue. */
export function hopsIn(events: readonly NetLogEvent[], mainFrameFlag: number): NetLogHop[] {
  const hops: NetLogHop[] = [];
  // A busy browser hears late of what has left, and an HTTP/2 session sends what it is given in turn.
  const dispatchedMs = new Map<number, number>();
  for (const { name, ms, params } of events) {
    if (name === 'HTTP2_SESSION_SEND_HEADERS' && params.source_dependency)
      dispatchedMs.set(params.source_dependency.id, ms);
  }
  for (const own of groupBy(events, ({ sourceId }) => sourceId).values()) {
    if (own.some(({ name }) => name === 'URL_REQUEST_START_JOB')) hops.push(...hopsOf(own, mainFrameFlag));
  }
  for (const hop of hops) {
    const ms = hop.connectionId === null ? undefined : dispatchedMs.get(hop.connectionId);
    if (hop.protocol === 'h2' && !hop.hasBody && ms !== undefined) hop.sentMs = ms;
  }
  return hops.sort((a, b) => a.issuedMs - b.issuedMs);
}

function hopsOf(own: readonly NetLogEvent[], mainFrameFlag: number): NetLogHop[] {
  const hops: NetLogHop[] = [];
  let priority: string | null = null;
  for (const event of own) {
    const { name, phase, params } = event;
    if (name === 'REQUEST_ALIVE' && phase === 'begin') priority = params.priority ?? null;
    const hop = hops.at(-1) ?? null;
    if (name !== 'URL_REQUEST_START_JOB' || phase !== 'begin') {
      if (hop !== null) addEvent(hop, event);
      continue;
    }
    const next = beginHop(event, priority, mainFrameFlag);
    if (next === null) continue;
    // A job that is begun again for the same URL, as after a password was asked for, is another hop as well.
    if (hop === null) next.issuedMs = event.sourceMs;
    else Object.assign(hop, { next, closedMs: event.ms });
    hops.push(next);
  }
  return hops;
}

function beginHop(
  { ms, sourceId, params }: NetLogEvent,
  priority: string | null,
  mainFrameFlag: number,
): NetLogHop | null {
  const { url, method, load_flags, request_type, network_isolation_key } = params;
  if (url == null) return null;
  const [tabSite = 'null'] = (network_isolation_key ?? '').split(' ');
  return {
    requestId: sourceId,
    url,
    method: method ?? 'GET',
    isMainFrame:
      request_type == null ? ((load_flags ?? 0) & mainFrameFlag) !== 0 : request_type === 'main frame',
    tabSite: network_isolation_key == null ? null : tabSite,
    priority,
    issuedMs: ms,
    isForNetwork: false,
    connectedMs: null,
    connectionId: null,
    endpoint: null,
    sentFromMs: null,
    sentMs: null,
    hasBody: params.upload_id != null,
    requestHeaders: [],
    protocol: null,
    streamId: null,
    answeredMs: null,
    status: null,
    responseHeaders: [],
    readMs: null,
    closedMs: ms,
    bodyBytes: 0,
    decodedBytes: 0,
    error: null,
    next: null,
  };
}

/** Adds to a hop what an event tells of it. What was sent again, as the connection was closed before the answer, counts from then on. */
function addEvent(hop: NetLogHop, { name, ms, phase, params }: NetLogEvent): void {
  if (isError(params.net_error)) hop.error ??= params.net_error;
  switch (name) {
    case 'HTTP_STREAM_REQUEST':
      hop.isForNetwork = true;
      if (phase === 'end') hop.connectedMs = ms;
      break;
    case 'HTTP_STREAM_REQUEST_BOUND_TO_JOB':
    case 'HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION':
      hop.connectionId = params.source_dependency?.id ?? null;
      break;
    case 'LOCAL_NETWORK_ACCESS_CHECK':
      hop.endpoint = /\bendpoint = ([^,]+),/.exec(params.transport_info ?? '')?.[1] ?? null;
      break;
    case 'HTTP_TRANSACTION_SEND_REQUEST':
      if (phase === 'begin')
        Object.assign(hop, { sentFromMs: ms, sentMs: ms, answeredMs: null, error: null });
      else if (hop.hasBody) hop.sentMs = ms;
      break;
    case 'HTTP_TRANSACTION_SEND_REQUEST_HEADERS':
      Object.assign(hop, { protocol: 'http/1.1', requestHeaders: params.headers ?? [] });
      break;
    case 'HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS':
      Object.assign(hop, { protocol: 'h2', requestHeaders: params.headers ?? [] });
      break;
    case 'HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS': {
      const streamId = params.quic_stream_id ?? null;
      Object.assign(hop, { protocol: 'h3', requestHeaders: params.headers ?? [], streamId });
      break;
    }
    case 'HTTP_TRANSACTION_READ_RESPONSE_HEADERS': {
      const [first = '', ...headers] = params.headers ?? [];
      const status = /^HTTP\/[\d.]+ (\d{3})/.exec(first)?.[1];
      Object.assign(hop, {
        answeredMs: ms,
        status: Number(status ?? 0),
        responseHeaders: headers,
      });
      break;
    }
    case 'HTTP_TRANSACTION_READ_BODY':
      hop.readMs = ms;
      break;
    case 'HTTP2_STREAM_UPDATE_RECV_WINDOW':
      hop.bodyBytes += Math.max(0, -(params.delta ?? 0));
      break;
    case 'URL_REQUEST_JOB_FILTERED_BYTES_READ':
      hop.decodedBytes += params.byte_count ?? 0;
      break;
    case 'REQUEST_ALIVE':
      hop.closedMs = ms;
      break;
  }
}
