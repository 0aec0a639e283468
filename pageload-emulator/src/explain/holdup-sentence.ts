import type { Protocol } from '@hopwise/contract';
import type { WorstHoldup } from '../trace/worst-holdup.ts';
import type { Sentences } from './sentences/english.ts';
import { withoutScheme } from './words.ts';

/** A response of up to ten packets fits into the usual initial window (RFC 6928). */
const SMALL_BYTES = 14_600;

/** "14 small files from cdn.example wait behind one lost packet on HTTP/2, up to 180 ms." */
export function holdupSentence(
  { origin, held, longestMs }: WorstHoldup,
  protocol: Protocol,
  { causes }: Sentences,
): string {
  const isSmall = held.every(({ responseBytes }) => responseBytes <= SMALL_BYTES);
  return causes.holdup(held.length, isSmall, withoutScheme(origin), protocol, longestMs);
}
