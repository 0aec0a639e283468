import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import type { Candidate } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error that all candidates of a page share: server and script
 * times, missing requests.
 */
const COMMON_DEVIATION = 0.08;
/**
 * The deviation of each protocol's own part. Chosen for the smallest regret on the training cells of the gauntlet: the logarithms of two
 * protocols' ratios have errors of 0.13 to 0.18 there, which are not normally distributed, whether the network is given or estimated.
 */
const PROTOCOL_DEVIATION = 0.16;

/**
 * Covariance of two candidates' emulation errors. Candidates that carry the same bytes by the same protocol share their error.
 *
 * @param byteShares share of each origin in the page's bytes
 */
export function errorCovariance(a: Candidate, b: Candidate, byteShares: ReadonlyMap<string, number>): number {
  const alike = a === b ? 1 : likeness(a, b, byteShares);
  return COMMON_DEVIATION ** 2 + alike * PROTOCOL_DEVIATION ** 2;
}

/** How alike two candidates load the page: the share of its bytes that the same protocol carries, 0 to 1. */
function likeness(a: Candidate, b: Candidate, byteShares: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [origin, share] of byteShares) {
    const byA = requestShares(a, origin);
    const byB = requestShares(b, origin);
    for (const protocol of PROTOCOLS) sum += share * (byA[protocol] ?? 0) * (byB[protocol] ?? 0);
  }
  return sum;
}

/** Shares of an origin's requests by protocol. */
function requestShares(
  { assignment, discoversH3 }: Candidate,
  origin: string,
): Partial<Record<Protocol, number>> {
  const protocol = assignment[origin]!;
  return discoversH3 && protocol === 'h3' ? { h2: 0.5, h3: 0.5 } : { [protocol]: 1 };
}
