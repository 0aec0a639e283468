import type { RecordedRequest, ResourceType } from '@hopwise/contract';

/**
 * Response bytes to assume where the browser withheld them (cross-origin without `Timing-Allow-Origin`). Documents and
 * scripts are as in the HTTP Archive's Web Almanac 2024, "Page weight" (median home page: 18 kB of HTML, 613 kB in 24
 * scripts); the other sizes are assumed to be of that order.
 */
const TYPICAL_BYTES: Record<ResourceType, number> = {
  document: 18_000,
  iframe: 8_000,
  style: 8_000,
  script: 25_000,
  font: 25_000,
  image: 12_000,
  media: 200_000,
  fetch: 2_000,
  beacon: 300,
  other: 3_000,
};
const RESPONSE_HEADER_BYTES = 300;
/** Text compresses to about this share. */
export const COMPRESSED_SHARE = 0.3;
/** Header fields of a browser's request without its URL. */
const REQUEST_HEADER_BYTES = 450;

/** Larger sizes are cut to this: no load event waits for more, and emulating more only takes time. */
const MAX_BYTES = 64e6;

/** What a recording shows of a response's size. */
export type SizedRequest = Pick<
  RecordedRequest,
  'type' | 'status' | 'transferBytes' | 'bodyBytes' | 'decodedBytes'
>;

/** Response bytes on the wire with headers: as recorded, else derived from the body's size, else typical of the type. */
export function responseBytesOf(request: SizedRequest): number {
  return Math.min(MAX_BYTES, likelyBytes(request));
}

function likelyBytes(request: SizedRequest): number {
  if (request.transferBytes !== null && request.transferBytes > 0) return request.transferBytes;
  if (request.status === 304) return RESPONSE_HEADER_BYTES;
  if (request.bodyBytes !== null && request.bodyBytes > 0) return request.bodyBytes + RESPONSE_HEADER_BYTES;
  if (request.decodedBytes !== null && request.decodedBytes > 0) {
    const text = /^(document|iframe|style|script|fetch)$/.test(request.type);
    return Math.round(request.decodedBytes * (text ? COMPRESSED_SHARE : 1)) + RESPONSE_HEADER_BYTES;
  }
  const empty = (request.status >= 300 && request.status < 400) || request.status === 204;
  const known = request.transferBytes !== null || request.bodyBytes === 0;
  return empty || known ? RESPONSE_HEADER_BYTES : TYPICAL_BYTES[request.type];
}

/** Request bytes on the wire before any header compression. */
export function requestBytesOf(request: RecordedRequest): number {
  return REQUEST_HEADER_BYTES + request.url.length + Math.min(MAX_BYTES, request.requestBodyBytes ?? 0);
}
