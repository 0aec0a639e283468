import type { UnavailableCause } from '../choose/compare.ts';
import type { Sentences } from './sentences/english.ts';

/** Says in a clause why a protocol cannot carry the page. Errors of the emulation are in English. */
export function unavailableClause(cause: UnavailableCause, { udpBlocked }: Sentences): string {
  return cause === 'udp-blocked' ? udpBlocked() : cause.message;
}
