import type { UnavailableCause } from '../choose/compare.ts';

/** Says in a clause why a protocol cannot carry the page. */
export function unavailableClause(cause: UnavailableCause): string {
  return cause === 'udp-blocked' ? 'UDP is blocked on this network' : cause.message;
}
