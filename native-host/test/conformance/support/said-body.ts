/** What frames say of a response's body, by themselves: the bodies that may come of bytes that were changed. */
import { RIGHT } from './cases.ts';
import { FLAG, FRAME_HEADER_BYTES, H2_FRAME, ITS_STREAM } from './http2-frames.ts';
import { H3_FRAME } from './http3-frames.ts';

/**
 * @param declared the field that says how long the body is, as it stands in the bytes.
 * @returns the body of an answer over HTTP/2 that has its end; else null.
 */
export function bodySaid2(bytes: Buffer, declared: Buffer): string | null {
  let body = '';
  for (let at = 0; at + FRAME_HEADER_BYTES <= bytes.length; ) {
    const [type, flags] = [bytes[at + 3]!, bytes[at + 4]!];
    const start = at + FRAME_HEADER_BYTES;
    const end = start + bytes.readUIntBE(at, 3);
    const isIts = (bytes.readUInt32BE(at + 5) & 0x7fff_ffff) === ITS_STREAM;
    if (end > bytes.length) break;
    if (isIts && type === H2_FRAME.DATA) body += unpadded(bytes.subarray(start, end), flags);
    const isLast = (flags & FLAG.END_STREAM) !== 0 && (type === H2_FRAME.DATA || type === H2_FRAME.HEADERS);
    if (isIts && isLast) return asDeclared(body, bytes, declared);
    at = end;
  }
  return null;
}

function unpadded(payload: Buffer, flags: number): string {
  if ((flags & FLAG.PADDED) === 0) return payload.toString('latin1');
  return payload.toString('latin1', 1, payload.length - (payload[0] ?? 0));
}

/**
 * @param bytes up to the end of the stream.
 * @param declared as for HTTP/2.
 * @returns the body of an answer over HTTP/3 whose frames are whole; else null.
 */
export function bodySaid3(bytes: Buffer, declared: Buffer): string | null {
  let body = '';
  let at = 0;
  /** @returns null where it is cut short. */
  const next = (): number | null => {
    const length = 2 ** ((bytes[at] ?? 0) >> 6);
    if (at + length > bytes.length) return null;
    const value = BigInt(`0x${bytes.toString('hex', at, at + length)}`) & (2n ** BigInt(length * 8 - 2) - 1n);
    at += length;
    return Number(value);
  };
  while (at < bytes.length) {
    const type = next();
    const length = next();
    if (type === null || length === null || at + length > bytes.length) return null;
    if (type === H3_FRAME.DATA) body += bytes.toString('latin1', at, at + length);
    at += length;
  }
  return asDeclared(body, bytes, declared);
}

function asDeclared(body: string, bytes: Buffer, declared: Buffer): string | null {
  return body.length !== RIGHT.length && bytes.includes(declared) ? null : body;
}
