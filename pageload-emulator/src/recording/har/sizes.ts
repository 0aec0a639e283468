import type { RecordedRequest } from '@hopwise/contract';
import type { Entry } from './schema.ts';
import { LARGEST_NUMBER, numberOf } from './values.ts';

type Sizes = Pick<RecordedRequest, 'transferBytes' | 'bodyBytes' | 'decodedBytes'>;

/**
 * Reads the sizes of a response, bytes.
 *
 * @param bodyHasHeaders whether the recorder counts headers into `bodySize`
 */
export function sizesOf({ response, _bytesIn }: Entry, bodyHasHeaders: boolean): Sizes {
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
  return {
    transferBytes:
      whole ||
      (bodyBytes === null || headersSize === null ? null : Math.min(LARGEST_NUMBER, bodyBytes + headersSize)),
    bodyBytes,
    decodedBytes,
  };
}

/** Negative sizes stand for unknown ones. */
function sizeOf(value: number | string | null | undefined): number | null {
  const bytes = numberOf(value);
  return bytes === null || bytes < 0 ? null : Math.round(bytes);
}
