/** Whether the rest of a response that breaks off may be asked for, and whether an answer is that rest (RFC 9110 section 14). */
import type { ResponseHead } from '../../exchange/exchange.ts';
import { type HeaderField, valuesOf } from '../../exchange/headers.ts';
import type { BrowserRequest } from './browser-request.ts';

/** A response of which any part can be asked for, and by which that part is recognised. */
export interface Resumption {
  /** Value of `If-Range`. */
  validator: string;
  /** Length of its body, content codings included. */
  totalBytes: number;
  /** Its header fields. */
  fields: readonly HeaderField[];
}

/** RFC 9110 section 8.8.3, without `W/`. */
const STRONG_TAG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;
/** RFC 9110 section 5.6.7, in the form that is sent today. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** `Content-Length` of up to 15 digits, which a number holds exactly. */
const LENGTH = /^\d{1,15}$/;
/**
 * Time from `Last-Modified` to `Date` from which the former is a strong validator, milliseconds (RFC 9110 section 8.8.2.2). So large that it does
 * not matter whether one clock wrote both.
 */
const STRONG_DATE_AGE_MS = 60_000;

/** Requests that ask for a part themselves. */
const OF_PARTS = ['range', 'if-range'];

/** @returns null for a response whose rest cannot be distinguished from that of another one */
export function resumptionOf(
  request: Pick<BrowserRequest, 'method' | 'body' | 'headers'>,
  { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
): Resumption | null {
  if (request.method !== 'GET' || request.body !== null || status !== 200) return null;
  if (OF_PARTS.some((name) => valuesOf(request.headers, name).length > 0)) return null;
  // Those of a part are not the whole response's.
  if (valuesOf(headers, 'trailer').length > 0) return null;
  if (/\bnone\b/i.test(valuesOf(headers, 'accept-ranges').join())) return null;
  const validator = strongValidatorOf(headers);
  const length = onlyValueOf(headers, 'content-length');
  // A body that is coded on its way has no length. Its ranges may be counted before that.
  if (validator === null || length === null || !LENGTH.test(length)) return null;
  return { validator, totalBytes: Number(length), fields: headers };
}

/** The header of a request for the bytes from `fromByte` on, if the response is still the same. */
export function askFrom(
  headers: readonly HeaderField[],
  { validator }: Resumption,
  fromByte: number,
): HeaderField[] {
  return [...headers, ['range', `bytes=${fromByte}-`], ['if-range', validator]];
}

/** Whether a response is all of the bytes from `fromByte` on, and nothing else. */
export function isRestOf(
  { totalBytes, fields }: Resumption,
  fromByte: number,
  { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
): boolean {
  const range = `bytes ${fromByte}-${totalBytes - 1}/${totalBytes}`;
  if (status !== 206 || onlyValueOf(headers, 'content-range')?.toLowerCase() !== range) return false;
  const length = valuesOf(headers, 'content-length');
  if (length.length > 0 && length.join() !== String(totalBytes - fromByte)) return false;
  // A part that has no type has the whole's, several parts have one of their own.
  const hasType = valuesOf(headers, 'content-type').length > 0;
  const same = ['etag', 'last-modified', 'content-encoding', ...(hasType ? ['content-type'] : [])];
  return same.every((name) => valuesOf(headers, name).join() === valuesOf(fields, name).join());
}

/** Validator that no two responses share which differ in a byte; null for none. */
function strongValidatorOf(headers: readonly HeaderField[]): string | null {
  if (valuesOf(headers, 'etag').length > 0) {
    const tag = onlyValueOf(headers, 'etag');
    return tag !== null && STRONG_TAG.test(tag) ? tag : null;
  }
  const modified = onlyValueOf(headers, 'last-modified');
  const sent = onlyValueOf(headers, 'date');
  if (modified === null || sent === null || !HTTP_DATE.test(modified) || !HTTP_DATE.test(sent)) return null;
  return Date.parse(sent) - Date.parse(modified) >= STRONG_DATE_AGE_MS ? modified : null;
}

/** null for none, or several. */
function onlyValueOf(headers: readonly HeaderField[], name: string): string | null {
  const values = valuesOf(headers, name);
  return values.length === 1 ? values[0]! : null;
}
