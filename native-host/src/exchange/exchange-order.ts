/** What the host sends to the engine's process for one exchange. */
import type { AddressSpace, Protocol } from '@hopwise/contract';
import type { ExchangeRequest } from './exchange.ts';
import { endToEnd, type HeaderField, isFieldValue, isToken, valuesOf } from './headers.ts';

export interface ExchangeOrder {
  protocol: Protocol;
  method: string;
  /** `https://host:port/`. */
  origin: string;
  /** The request target (RFC 9112 section 3.2.1), sent unchanged. */
  target: string;
  /** The header's field lines, joined by line feeds; no field line contains one. */
  fieldLines: string;
  /** Bytes of the body; 'unknown' until it ends, 'none' without one. */
  body: number | 'unknown' | 'none';
  /** Bounds the addresses that it may be connected to. */
  from: AddressSpace;
  /** As in `ExchangeRequest`. */
  partition: string;
  /** `host:port:otherHost:otherPort`, '' for the URL's own. */
  connectTo: string;
  /** Whether it gets a connection of its own, opened for it. */
  fresh: boolean;
  /** Whether its figures are measured. */
  measured: boolean;
  /** Initial credit: response body bytes that may be sent. */
  credit: number;
}

/** Which connections are needed no more. */
export interface ReleaseOrder extends Pick<ExchangeOrder, 'origin'> {
  /** null for those of all partitions. */
  partition: string | null;
}

/** An order that the engine marks as sent before the first byte goes out. */
export interface MarkedOrder extends ExchangeOrder {
  /** Slot among the sent marks. */
  slot: number;
}

/** RFC 9110 section 9.2.2, without TRACE, which is not forwarded. */
export const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

export function hasBody({ body }: Pick<ExchangeOrder, 'body'>): boolean {
  return body !== 'none' && body !== 0;
}

/** Whether libcurl's trace is read for the cause of a failure: others may be repeated in any case, and HTTP/1.1 has no signal. */
export function isTraced({ protocol, method }: ExchangeOrder): boolean {
  return protocol !== 'h1' && !IDEMPOTENT.has(method);
}

/**
 * Fields that the engine generates itself: the authority and the length are in the request already, and the engine
 * does not wait for a 100 (Continue).
 */
const GENERATED = new Set(['host', 'content-length', 'expect']);

/** CONNECT and TRACE are not forwarded: RFC 9110 sections 9.3.6 and 9.3.8. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE']);

/**
 * @throws Error with the reason when the request cannot be sent unchanged.
 */
export function exchangeOrder(request: ExchangeRequest, credit: number): ExchangeOrder {
  const { method, protocol } = request;
  if (!isToken(method) || REFUSED_METHODS.has(method)) throw new Error('a method that is not forwarded');
  const [, origin, rest] = request.url.match(/^(https:\/\/[^/?#@\s]+)([/?][\x21\x22\x24-\x7e]*)?$/) ?? [];
  if (!origin || !URL.canParse(origin)) throw new Error('no https URL');
  const fields = endToEnd(request.headers).filter(([name]) => !GENERATED.has(name.toLowerCase()));
  // RFC 9110 section 10.1.4: the only member of `TE` that is not limited to one hop of HTTP/1.1.
  if (
    protocol !== 'h1' &&
    valuesOf(request.headers, 'te').some((value) => value.trim().toLowerCase() === 'trailers')
  ) {
    fields.push(['te', 'trailers']);
  }
  return {
    protocol,
    method,
    origin: `${origin}/`,
    target: rest?.startsWith('?') ? `/${rest}` : (rest ?? '/'),
    fieldLines: (protocol === 'h1' ? oneCookieField(fields) : fields).map(fieldLine).join('\n'),
    body: bodyLength(request),
    from: request.from ?? 'public',
    partition: request.partition ?? '',
    connectTo: request.connectTo ?? '',
    fresh: request.freshConnection ?? false,
    measured: request.isMeasured ?? false,
    credit,
  };
}

/**
 * In libcurl's form (`CURLOPT_HTTPHEADER`): a semicolon marks a field with an empty value.
 *
 * @throws Error for characters that a field line cannot hold.
 */
function fieldLine([name, value]: HeaderField): string {
  if (!isToken(name) || !isFieldValue(value)) throw new Error('a header that cannot be sent');
  return value ? `${name}: ${value}` : `${name};`;
}

function bodyLength(request: ExchangeRequest): ExchangeOrder['body'] {
  const lengths = new Set(valuesOf(request.headers, 'content-length').map((value) => value.trim()));
  if (lengths.size > 1) throw new Error('two lengths');
  const [length] = lengths;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new Error('a length that is no number');
  if (request.body) return length === undefined ? 'unknown' : Number(length);
  if (length !== undefined && Number(length) > 0) throw new Error('a length without a body');
  // An empty body differs from no body: `Content-Length: 0` is forwarded.
  return length === undefined ? 'none' : 0;
}

/** HTTP/2 may split cookies into fields, HTTP/1.1 may not (RFC 9113 section 8.2.3). */
function oneCookieField(fields: HeaderField[]): HeaderField[] {
  const isCookie = ([name]: HeaderField): boolean => name.toLowerCase() === 'cookie';
  const cookies = fields.filter(isCookie);
  if (cookies.length < 2) return fields;
  const first = fields.indexOf(cookies[0]!);
  const joined: HeaderField = [cookies[0]![0], cookies.map(([, value]) => value).join('; ')];
  return fields.flatMap((field, index) => {
    if (!isCookie(field)) return [field];
    return index === first ? [joined] : [];
  });
}
