/** What crosses from the host to the engine's process for one exchange. */
import type { Protocol } from '@hopwise/contract';
import type { ExchangeRequest } from './exchange.ts';
import { endToEnd, type HeaderField, isFieldValue, isToken, valuesOf } from './headers.ts';

export interface ExchangeOrder {
  protocol: Protocol;
  method: string;
  /** `https://host:port/`. */
  origin: string;
  /** The request target (RFC 9112 section 3.2.1), to be sent as it is. */
  target: string;
  /** The header's field lines with a line feed between them, which none of them holds. */
  fieldLines: string;
  /** Bytes of the body; 'unknown' until it ends, 'none' without one. */
  body: number | 'unknown' | 'none';
  /** `host:port:otherHost:otherPort`, '' for the URL's own. */
  connectTo: string;
  /** Over a connection that is made for it. */
  fresh: boolean;
  /** Body bytes that the response may have sent at first. */
  credit: number;
}

/** An order that the engine is to note before it sends anything of it. */
export interface NotedOrder extends ExchangeOrder {
  /** Place among the notes. */
  note: number;
}

/** RFC 9110 section 9.2.2, without TRACE, which is not passed on. */
export const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Whether it is looked at why it fails: others may be repeated in any case, and over HTTP/1.1 nothing tells. */
export function isTraced({ protocol, method }: ExchangeOrder): boolean {
  return protocol !== 'h1' && !IDEMPOTENT.has(method);
}

/**
 * Fields that the engine says itself: the authority and the length are in the request already, and
 * nobody here could wait for a 100 (Continue).
 */
const SAID_OTHERWISE = new Set(['host', 'content-length', 'expect']);

/** CONNECT and TRACE are no requests to pass on: RFC 9110 sections 9.3.6 and 9.3.8. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE']);

/**
 * @throws Error with the reason when it cannot be sent as it is.
 */
export function exchangeOrder(request: ExchangeRequest, credit: number): ExchangeOrder {
  const { method, protocol } = request;
  if (!isToken(method) || REFUSED_METHODS.has(method)) throw new Error('a method that is not passed on');
  const [, origin, rest] = request.url.match(/^(https:\/\/[^/?#@\s]+)([/?][\x21\x22\x24-\x7e]*)?$/) ?? [];
  if (!origin || !URL.canParse(origin)) throw new Error('no https URL');
  const fields = endToEnd(request.headers).filter(([name]) => !SAID_OTHERWISE.has(name.toLowerCase()));
  // RFC 9110 section 10.1.4: the one thing of `TE` that is meant for more than a hop of HTTP/1.1.
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
    connectTo: request.connectTo ?? '',
    fresh: request.freshConnection ?? false,
    credit,
  };
}

/**
 * As libcurl takes it (`CURLOPT_HTTPHEADER`): a semicolon stands for a field that is there with no value.
 *
 * @throws Error for what cannot stand in a field line.
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
  // A body of no bytes is not the same as none: `Content-Length: 0` is passed on.
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
