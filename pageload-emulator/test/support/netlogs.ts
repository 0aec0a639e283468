/** Small NetLogs, as Chromium writes them. */

/** On the log's clock, milliseconds. */
const BEGAN_MS = 400_000;
/** Unix time of the same moment, milliseconds. */
const BEGAN_AT = Date.parse('2026-01-05T10:00:00.000Z');

/** Numbers that Chromium gives to what it logs; they differ from version to version. */
const TYPES = [
  'CANCELLED',
  'FAILED',
  'REQUEST_ALIVE',
  'HOST_RESOLVER_MANAGER_REQUEST',
  'CONNECT_JOB',
  'SOCKET_ALIVE',
  'TCP_CONNECT',
  'SSL_CONNECT',
  'SOCKET_BYTES_RECEIVED',
  'SOCKET_POOL_BOUND_TO_SOCKET',
  'URL_REQUEST_START_JOB',
  'URL_REQUEST_JOB_FILTERED_BYTES_READ',
  'HTTP_STREAM_REQUEST',
  'HTTP_STREAM_REQUEST_BOUND_TO_JOB',
  'HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION',
  'LOCAL_NETWORK_ACCESS_CHECK',
  'HTTP_TRANSACTION_SEND_REQUEST',
  'HTTP_TRANSACTION_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_READ_RESPONSE_HEADERS',
  'HTTP_TRANSACTION_READ_BODY',
  'HTTP2_SESSION_INITIALIZED',
  'HTTP2_SESSION_SEND_HEADERS',
  'HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION',
  'HTTP2_SESSION_POOL_IMPORTED_SESSION_FROM_SOCKET',
  'HTTP2_STREAM_UPDATE_RECV_WINDOW',
  'HTTP3_DATA_FRAME_RECEIVED',
  'QUIC_SESSION',
  'QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE',
  'QUIC_SESSION_POOL_JOB',
  'QUIC_SESSION_POOL_JOB_RESULT',
  'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED',
] as const;
type EventType = (typeof TYPES)[number];

export const CONSTANTS = {
  clientInfo: { name: 'Chromium', version: '156.0.1.2', command_line: 'chromium {"events":[' },
  loadFlag: { MAIN_FRAME_DEPRECATED: 256, NORMAL: 0 },
  logEventPhase: { PHASE_NONE: 0, PHASE_BEGIN: 1, PHASE_END: 2 },
  logEventTypes: Object.fromEntries(TYPES.map((name, at) => [name, at + 1])),
  netError: { ERR_IO_PENDING: -1, ERR_ABORTED: -3, ERR_CONNECTION_RESET: -101, ERR_CACHE_MISS: -400 },
  timeTickOffset: String(BEGAN_AT - BEGAN_MS),
};

export interface LoggedEvent {
  params?: object;
  phase: number;
  source: { id: number; start_time: string; type: number };
  time: string;
  type: number;
}

const PHASES = { moment: 0, begin: 1, end: 2 };

/** @param ms after the navigation */
export function event(
  source: number,
  name: EventType,
  ms: number,
  params?: object,
  phase: keyof typeof PHASES = 'moment',
): LoggedEvent {
  return {
    ...(params && { params }),
    phase: PHASES[phase],
    source: { id: source, start_time: String(BEGAN_MS + ms), type: 1 },
    time: String(BEGAN_MS + ms),
    type: CONSTANTS.logEventTypes[name]!,
  };
}

const to = (id: number) => ({ source_dependency: { id, type: 1 } });

interface Logged {
  id: number;
  url: string;
  issuedMs: number;
  connectedMs: number;
  waitMs: number;
  receiveMs: number;
  bytes: number;
  mimeType: string;
  /** The socket job, or the QUIC session, through which it goes. */
  via: number;
  protocol?: 'h1' | 'h2' | 'h3';
  isMainFrame?: boolean;
  destination?: string;
  priority?: string;
  tabSite?: string;
  headers?: string[];
  answer?: string[];
}

const SENT = {
  h1: 'HTTP_TRANSACTION_SEND_REQUEST_HEADERS',
  h2: 'HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS',
  h3: 'HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS',
} as const;

export function beginRequest(
  id: number,
  url: string,
  ms: number,
  { isMainFrame = false, priority = 'LOWEST', tabSite = 'https://a.test' }: Partial<Logged> = {},
): LoggedEvent[] {
  const job = {
    url,
    method: 'GET',
    load_flags: 0,
    request_type: isMainFrame ? 'main frame' : 'other',
    network_isolation_key: `${tabSite} ${tabSite}`,
  };
  return [
    event(id, 'REQUEST_ALIVE', ms, { url, priority }, 'begin'),
    event(id, 'URL_REQUEST_START_JOB', ms, job, 'begin'),
  ];
}

/** The events of one request. */
export function request(logged: Logged): LoggedEvent[] {
  const { id, url, issuedMs, connectedMs, waitMs, receiveMs, bytes, via, protocol = 'h2' } = logged;
  const answeredMs = connectedMs + waitMs;
  const endMs = answeredMs + receiveMs;
  const headers = [`sec-fetch-dest: ${logged.destination ?? 'empty'}`, ...(logged.headers ?? [])];
  const isQuic = protocol === 'h3';
  const bound = isQuic ? 'HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION' : 'HTTP_STREAM_REQUEST_BOUND_TO_JOB';
  const part = Math.floor(bytes / 2);
  const received = (size: number, ms: number): LoggedEvent[] => {
    if (protocol === 'h3')
      return [event(via, 'HTTP3_DATA_FRAME_RECEIVED', ms, { payload_length: size, stream_id: 4 * id })];
    const window = (delta: number) =>
      event(id, 'HTTP2_STREAM_UPDATE_RECV_WINDOW', ms, { delta, stream_id: 1 });
    return protocol === 'h2' ? [window(-size), window(size)] : [];
  };
  return [
    ...beginRequest(id, url, issuedMs, logged),
    event(id, 'HTTP_STREAM_REQUEST', issuedMs, undefined, 'begin'),
    event(id, bound, connectedMs, to(via)),
    event(id, 'HTTP_STREAM_REQUEST', connectedMs, undefined, 'end'),
    event(id, 'LOCAL_NETWORK_ACCESS_CHECK', connectedMs, {
      transport_info:
        'TransportInfo{ type = TransportType::kDirect, endpoint = 192.0.2.1:443, accept_ch_frame = }',
    }),
    event(id, 'HTTP_TRANSACTION_SEND_REQUEST', connectedMs, undefined, 'begin'),
    event(id, SENT[protocol], connectedMs, { headers, ...(isQuic && { quic_stream_id: 4 * id }) }),
    event(id, 'HTTP_TRANSACTION_SEND_REQUEST', connectedMs, undefined, 'end'),
    event(id, 'HTTP_TRANSACTION_READ_RESPONSE_HEADERS', answeredMs, {
      headers: ['HTTP/1.1 200', `content-type: ${logged.mimeType}; charset=utf-8`, ...(logged.answer ?? [])],
    }),
    ...received(part, answeredMs),
    event(id, 'HTTP_TRANSACTION_READ_BODY', answeredMs, undefined, 'end'),
    event(id, 'URL_REQUEST_JOB_FILTERED_BYTES_READ', answeredMs, { byte_count: 3 * part }),
    ...received(bytes - part, endMs),
    event(id, 'HTTP_TRANSACTION_READ_BODY', endMs, undefined, 'end'),
    event(id, 'URL_REQUEST_JOB_FILTERED_BYTES_READ', endMs, { byte_count: 3 * (bytes - part) }),
    event(id, 'REQUEST_ALIVE', endMs + 3, undefined, 'end'),
  ];
}

/** A socket with TLS that job 20 opens for request job 21, over which HTTP/2 session 23 is begun, and which job 24 finds again. */
function socketEvents(): LoggedEvent[] {
  return [
    event(20, 'CONNECT_JOB', 4, undefined, 'begin'),
    event(22, 'SOCKET_ALIVE', 14, to(20), 'begin'),
    event(22, 'TCP_CONNECT', 14, { address_list: ['192.0.2.1:443'] }, 'begin'),
    event(22, 'TCP_CONNECT', 44, { remote_address: '192.0.2.1:443' }, 'end'),
    event(22, 'SSL_CONNECT', 44, undefined, 'begin'),
    event(22, 'SSL_CONNECT', 74, { next_proto: 'h2' }, 'end'),
    event(21, 'SOCKET_POOL_BOUND_TO_SOCKET', 74, to(22)),
    event(23, 'HTTP2_SESSION_INITIALIZED', 74, to(22)),
    event(21, 'HTTP2_SESSION_POOL_IMPORTED_SESSION_FROM_SOCKET', 74, to(23)),
    event(24, 'HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION', 160, to(23)),
  ];
}

/** QUIC session 31, which job 30 opens. */
function quicEvents(): LoggedEvent[] {
  return [
    event(30, 'QUIC_SESSION_POOL_JOB', 165, undefined, 'begin'),
    event(31, 'QUIC_SESSION', 170, { host: 'cdn.test' }, 'begin'),
    event(31, 'QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE', 200),
    event(30, 'QUIC_SESSION_POOL_JOB_RESULT', 200, to(31)),
  ];
}

/** A packet that arrived over QUIC session 31. */
export const packet = (packet_number: number, ms: number, header_format = 'IETF_QUIC_SHORT_HEADER_PACKET') =>
  event(31, 'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED', ms, { packet_number, header_format });

/** A page with a style sheet over the same connection and an image over HTTP/3, and what the browser asked for by itself. */
export function logEvents(): LoggedEvent[] {
  return [
    ...beginRequest(1, 'https://update.test/', 0, { tabSite: 'null' }),
    ...socketEvents(),
    ...request({
      id: 2,
      url: 'https://a.test/',
      issuedMs: 0,
      connectedMs: 74,
      waitMs: 80,
      receiveMs: 20,
      bytes: 20_000,
      mimeType: 'text/html',
      via: 21,
      isMainFrame: true,
      destination: 'document',
      priority: 'HIGHEST',
      answer: ['alt-svc: h3=":443"'],
    }),
    ...request({
      id: 3,
      url: 'https://a.test/a.css',
      issuedMs: 155,
      connectedMs: 160,
      waitMs: 40,
      receiveMs: 10,
      bytes: 8_000,
      mimeType: 'text/css',
      via: 24,
      destination: 'style',
      priority: 'MEDIUM',
      headers: ['referer: https://a.test/'],
    }),
    ...quicEvents(),
    ...request({
      id: 4,
      url: 'https://cdn.test/i.png',
      issuedMs: 160,
      connectedMs: 200,
      waitMs: 35,
      receiveMs: 15,
      bytes: 9_000,
      mimeType: 'image/png',
      via: 31,
      protocol: 'h3',
      destination: 'image',
    }),
  ];
}

/** Events of which a log has most, and which are not read. */
export const NOISE: readonly LoggedEvent[] = [
  event(22, 'SOCKET_BYTES_RECEIVED', 90, { byte_count: 1448 }),
  event(40, 'HOST_RESOLVER_MANAGER_REQUEST', 3, { host: '"type":3,"events":[{' }, 'begin'),
  event(40, 'CANCELLED', 3),
];

/** A log of events. */
export const logged = (events: readonly object[]) => ({ constants: CONSTANTS, events, polledData: [] });
