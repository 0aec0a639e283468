import type { RecordedRequest } from '@hopwise/contract';
import type { Conventions } from './conventions.ts';
import { headerOf } from './headers.ts';
import { type Entry, isRedirect, statusOf } from './schema.ts';
import { LARGEST_NUMBER, lengthOf, numberOf } from './values.ts';

type Sizes = Pick<RecordedRequest, 'transferBytes' | 'bodyBytes' | 'decodedBytes'>;

/**
 * Reads the sizes of a response, bytes.
 */
export function sizesOf(entry: Entry, { bodyHasHeaders, sizesFirstPart }: Conventions): Sizes {
  const { response, _bytesIn } = entry;
  if (sizesFirstPart) return sizesByHeader(entry);
  if (isRedirect(statusOf(entry)) && hasSizesOfTarget(entry, bodyHasHeaders)) return sizesOfRedirect(entry);
  const decodedBytes = sizeOf(response?.content?.size);
  const headersSize = sizeOf(response?.headersSize);
  const notModified = Number(response?.status) === 304;
  let bodyBytes = notModified ? 0 : sizeOf(response?.bodySize);
  if (bodyBytes !== null && bodyHasHeaders) bodyBytes = Math.max(0, bodyBytes - (headersSize ?? 0));
  // Recorders that see a body only after decompression write 0.
  if (!notModified && !bodyBytes && decodedBytes !== null && decodedBytes > 0) {
    const saved = numberOf(response?.content?.compression) ?? 0;
    bodyBytes = saved > 0 ? Math.max(0, decodedBytes - saved) : null;
  }
  const whole = sizeOf(response?._transferSize) || sizeOf(_bytesIn);
  if (!whole && !notModified) bodyBytes = bytesByHeaders(entry, bodyBytes, decodedBytes);
  return {
    transferBytes:
      whole ||
      (bodyBytes === null || headersSize === null ? null : Math.min(LARGEST_NUMBER, bodyBytes + headersSize)),
    bodyBytes,
    decodedBytes,
  };
}

/**
 * A body's size on the wire where headers tell it better than the recorder: they show whether it was compressed, and often how long it
 * was. Some write the decoded size for both.
 */
function bytesByHeaders(
  { request, response }: Entry,
  bodyBytes: number | null,
  decodedBytes: number | null,
): number | null {
  const isKnown = (response?.headers?.length ?? 0) > 0;
  const isEncoded = !/^(identity)?$/i.test(headerOf(response, 'content-encoding') ?? '');
  const hasBody = request.method?.toUpperCase() !== 'HEAD' && Number(response?.status) !== 204;
  const declared = hasBody ? sizeOf(headerOf(response, 'content-length')) || null : null;
  if (bodyBytes === null) return isKnown && !isEncoded && decodedBytes ? decodedBytes : declared;
  const isDecoded = isEncoded && bodyBytes === decodedBytes && declared !== null && declared < bodyBytes;
  return isDecoded ? declared : bodyBytes;
}

/** Sizes where the recorder wrote that of the first part of a body: the whole body's is in a header, if it is known at all. */
function sizesByHeader({ response, timings }: Entry): Sizes {
  const firstBytes = sizeOf(response?.bodySize);
  const declared = sizeOf(headerOf(response, 'content-length'));
  const isWhole = lengthOf(timings?.receive) === 0;
  const bodyBytes =
    declared !== null && declared >= (firstBytes ?? 0) ? declared : isWhole ? firstBytes : null;
  return { transferBytes: null, bodyBytes, decodedBytes: bodyBytes };
}

/** Whether a redirect has the sizes of the document that it led to, as Firefox writes: a body is as long as its own header says (RFC 9110 section 8.6). */
function hasSizesOfTarget({ response }: Entry, isFirefox: boolean): boolean {
  const declared = sizeOf(headerOf(response, 'content-length'));
  if (declared === null) return isFirefox;
  return declared + (isFirefox ? lengthOf(response?.headersSize) : 0) < lengthOf(response?.bodySize);
}

/** Sizes of a redirect whose body's are in a header, if they are known at all. */
function sizesOfRedirect({ response }: Entry): Sizes {
  const bodyBytes = sizeOf(headerOf(response, 'content-length'));
  const headersSize = sizeOf(response?.headersSize);
  const transferBytes = bodyBytes === null || headersSize === null ? null : bodyBytes + headersSize;
  return { transferBytes, bodyBytes, decodedBytes: bodyBytes };
}

/** Negative sizes stand for unknown ones. */
function sizeOf(value: number | string | null | undefined): number | null {
  const bytes = numberOf(value);
  return bytes === null || bytes < 0 ? null : Math.round(bytes);
}
