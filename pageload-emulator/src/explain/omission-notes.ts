import type { Omissions } from '../choose/choose.ts';
import type { UnavailableCause } from '../choose/compare.ts';
import type { Sentences } from './sentences/english.ts';

/** Lists in sentences what was left out of an answer: because emulating the page takes long, or as it disagrees with the rest of the recording. */
export function omissionNotes(
  { comparedOn, searchCut }: Omissions,
  untriedOrigins: number,
  leftOutTrips: number,
  { notes }: Sentences,
): string[] {
  return [
    ...(comparedOn === null ? [] : [notes.comparedOn(comparedOn)]),
    ...(searchCut ? [notes.searchCut()] : []),
    ...(untriedOrigins > 0 ? [notes.untriedOrigins(untriedOrigins)] : []),
    ...(leftOutTrips > 0 ? [notes.leftOutTrips(leftOutTrips)] : []),
  ];
}

/** Says in a clause why a protocol cannot carry the page. */
export function unavailableClause(cause: UnavailableCause, { udpBlocked, endless }: Sentences): string {
  return cause === 'udp-blocked' ? udpBlocked() : endless(cause.afterMs);
}
