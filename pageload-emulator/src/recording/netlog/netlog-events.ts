import * as z from 'zod/mini';
import { objectOf } from '../har/values.ts';

/** Events of a NetLog that tell of requests and of the connections they used (`net_log_event_type_list.h` of Chromium). */
const EVENT_NAMES = [
  'REQUEST_ALIVE',
  'URL_REQUEST_START_JOB',
  'URL_REQUEST_JOB_FILTERED_BYTES_READ',
  'FAILED',
  'LOCAL_NETWORK_ACCESS_CHECK',
  'HTTP_STREAM_REQUEST',
  'HTTP_STREAM_REQUEST_BOUND_TO_JOB',
  'HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION',
  'HTTP_TRANSACTION_SEND_REQUEST',
  'HTTP_TRANSACTION_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS',
  'HTTP_TRANSACTION_READ_RESPONSE_HEADERS',
  'HTTP_TRANSACTION_READ_BODY',
  'HTTP2_STREAM_UPDATE_RECV_WINDOW',
  'HTTP3_DATA_FRAME_RECEIVED',
  'CONNECT_JOB',
  'SOCKET_ALIVE',
  'TCP_CONNECT',
  'SSL_CONNECT',
  'SOCKET_POOL_BOUND_TO_SOCKET',
  'HTTP2_SESSION_INITIALIZED',
  'HTTP2_SESSION_SEND_HEADERS',
  'HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION',
  'HTTP2_SESSION_POOL_IMPORTED_SESSION_FROM_SOCKET',
  'QUIC_SESSION',
  'QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE',
  'QUIC_SESSION_POOL_JOB',
  'QUIC_SESSION_POOL_JOB_RESULT',
  'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED',
] as const;
export type NetLogEventName = (typeof EVENT_NAMES)[number];

/** What Chromium called events before it renamed them. */
const FORMER_NAMES = new Map<string, NetLogEventName>([
  ['PRIVATE_NETWORK_ACCESS_CHECK', 'LOCAL_NETWORK_ACCESS_CHECK'],
  ['QUIC_STREAM_FACTORY_JOB', 'QUIC_SESSION_POOL_JOB'],
  ['QUIC_STREAM_FACTORY_JOB_RESULT', 'QUIC_SESSION_POOL_JOB_RESULT'],
]);
const NAMES = new Map<string, NetLogEventName>([
  ...EVENT_NAMES.map((name) => [name, name] as const),
  ...FORMER_NAMES,
]);

const count = z.number().check(z.gte(0), z.lte(Number.MAX_SAFE_INTEGER));
/** A time in milliseconds, which Chromium writes as text. */
const milliseconds = z.pipe(
  z.union([z.string().check(z.regex(/^\d{1,15}$/)), count]),
  z.transform((value) => Number(value)),
);
const text = z.optional(z.nullable(z.string()));
const number = z.optional(z.nullable(z.number()));
const lines = z.optional(z.nullable(z.array(z.string())));
/** What Chromium calls the header of packets after the handshake (RFC 9000 section 17.3). */
export const SHORT_HEADER = 'IETF_QUIC_SHORT_HEADER_PACKET';
const source = z.object({ id: count, start_time: z.optional(milliseconds) });

const paramsSchema = z.object({
  url: text,
  method: text,
  /** Of a request, before 2021 in the flags alone. */
  request_type: text,
  /** Of a request with a body. */
  upload_id: text,
  load_flags: number,
  /** The site of the tab and that of the frame, parted by a blank; absent before 2020. */
  network_isolation_key: text,
  priority: text,
  headers: lines,
  quic_stream_id: number,
  stream_id: number,
  /** What a stream's receive window grows by, bytes; negative for what arrived. */
  delta: number,
  /** Bytes of a frame. */
  payload_length: number,
  /** Bytes of a body after decompression. */
  byte_count: number,
  /** Of a packet that arrived, and the form of its header. */
  packet_number: z.optional(count),
  header_format: text,
  /** Of packets whose events were added up, the first number and the last. */
  packet_ranges: z.optional(z.array(z.tuple([count, count]))),
  net_error: number,
  remote_address: text,
  /** Words, among them `endpoint = ` and the server's address. */
  transport_info: text,
  source_dependency: z.optional(z.nullable(source)),
});
type NetLogParams = z.infer<typeof paramsSchema>;

/** Numbers of Chromium's errors are negative; −1 is what goes on. */
const PENDING = -1;

/** Whether a `net_error` is one. */
export const isError = (error: number | null | undefined): error is number =>
  error != null && error < PENDING;

/** An event as Chromium writes it. */
export const eventSchema = z.object({
  time: milliseconds,
  type: count,
  phase: z._default(count, 0),
  source,
  params: z.optional(z.nullable(paramsSchema)),
});

/** An event of which all that is read has the form in which Chromium writes it. */
export interface NetLogEvent {
  name: NetLogEventName;
  /** On the log's clock, milliseconds. */
  ms: number;
  /** Whether something begins or ends with it; neither where it is a moment. */
  phase: 'begin' | 'end' | 'moment';
  /** What it is an event of: a request, a connection, or a step on the way to one. */
  sourceId: number;
  /** When that began, on the log's clock; later where a log does not tell. */
  sourceMs: number;
  params: NetLogParams;
}

/** What a log says of itself. */
interface NetLogConstants {
  /** Kinds of events that are read, by number. */
  names: ReadonlyMap<number, NetLogEventName>;
  /** Names of errors, such as `ERR_ABORTED`, by number. */
  errors: ReadonlyMap<number, string>;
  /** The flag of requests for a tab's own document; 0 where none is known. */
  mainFrameFlag: number;
  /** What makes a time of the log Unix time, milliseconds. */
  offsetMs: number;
  /** The browser with its version. */
  browser: { name: string; version: string } | null;
}

const numbersSchema = z.catch(z.record(z.string(), z.number()), {});
const constantsSchema = z.object({
  logEventTypes: z.record(z.string(), z.number()),
  netError: numbersSchema,
  loadFlag: numbersSchema,
  timeTickOffset: z.catch(milliseconds, 0),
  clientInfo: z.catch(z.optional(z.object({ name: z.string(), version: z.string() })), undefined),
});

/** Reads what a log says of itself; null for what no NetLog has there. */
export function readConstants(constants: unknown): NetLogConstants | null {
  const read = constantsSchema.safeParse(constants);
  if (!read.success) return null;
  const { logEventTypes, netError, loadFlag, timeTickOffset, clientInfo = null } = read.data;
  const names = new Map<number, NetLogEventName>();
  for (const [written, number] of Object.entries(logEventTypes)) {
    const name = NAMES.get(written);
    if (name !== undefined) names.set(number, name);
  }
  return {
    names,
    errors: new Map(Object.entries(netError).map(([name, number]) => [number, name])),
    mainFrameFlag: loadFlag.MAIN_FRAME ?? loadFlag.MAIN_FRAME_DEPRECATED ?? 0,
    offsetMs: timeTickOffset,
    browser: clientInfo,
  };
}

const PHASES = ['moment', 'begin', 'end'] as const;

/** Reads the events that count, in the order of the log; others, and those that are not as Chromium writes them, are left out. */
export function readEvents(
  list: readonly unknown[],
  { names }: Pick<NetLogConstants, 'names'>,
): NetLogEvent[] {
  return list.flatMap((event): NetLogEvent | [] => {
    const name = names.get(Number(objectOf(event)?.type));
    if (name === undefined) return [];
    const read = eventSchema.safeParse(event);
    if (!read.success) return [];
    const { time, phase, source, params } = read.data;
    return {
      name,
      ms: time,
      phase: PHASES[phase] ?? 'moment',
      sourceId: source.id,
      sourceMs: Math.min(source.start_time ?? time, time),
      params: params ?? {},
    };
  });
}
