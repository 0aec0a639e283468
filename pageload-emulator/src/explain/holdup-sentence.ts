import { PROTOCOL_NAME, type Protocol } from '@hopwise/contract';
import type { WorstHoldup } from '../trace/worst-holdup.ts';
import { count, ms, withoutScheme } from './words.ts';

/** A response of up to ten packets fits into the usual initial window (RFC 6928). */
const SMALL_BYTES = 14_600;

/** "14 small files from cdn.example wait behind one lost packet on HTTP/2, up to 180 ms." */
export function holdupSentence({ origin, held, longestMs }: WorstHoldup, protocol: Protocol): string {
  const small = held.every(({ responseBytes }) => responseBytes <= SMALL_BYTES) ? 'small ' : '';
  const wait = held.length === 1 ? 'waits' : 'wait';
  return `${count(held.length, `${small}file`)} from ${withoutScheme(origin)} ${wait} behind one lost packet on ${PROTOCOL_NAME[protocol]}, up to ${ms(longestMs)}.`;
}
