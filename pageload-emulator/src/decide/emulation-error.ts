import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import type { Candidate } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error that all candidates of a page share: server and script
 * times, missing requests. With `RECORDED_DEVIATION`, `RECORDED_NOISE` and the deviation of what candidates share chosen on the
 * training cells of `npm run bench -- reading`, by how exactly a recorded load is reproduced.
 */
const COMMON_DEVIATION = 0.05;
/**
 * The deviation of the own part of a protocol other than the recorded one. The logarithms of two protocols' ratios have errors of 0.13 to
 * 0.18 on the training cells of the gauntlet, which are not normally distributed, whether the network is given or estimated: with more
 * than that the Brier score of the stated chances is smaller, at the same regret.
 */
const PROTOCOL_DEVIATION = 0.22;
/** The deviation of every protocol's own part where none was recorded on the network asked about, so that ratios have the same error. */
const UNRECORDED_DEVIATION = 0.16;
/** The deviation of the recorded protocol's own part: the network and the servers were read from that very load. */
const RECORDED_DEVIATION = 0.05;

/** What the errors of a page's candidates depend on. */
interface ErrorContext {
  /** Share of each origin in the page's bytes. */
  byteShares: ReadonlyMap<string, number>;
  /** The candidate like which the page was recorded on the network asked about; undefined for none. */
  recorded: Candidate | undefined;
}

/** Covariance of two candidates' emulation errors. Candidates that carry the same bytes by the same protocol share their error. */
export function errorCovariance(a: Candidate, b: Candidate, context: ErrorContext): number {
  const own = ownDeviation(a, context) * ownDeviation(b, context);
  return COMMON_DEVIATION ** 2 + likeness(a, b, context.byteShares) * own;
}

/** The less of a page is carried as it was recorded, the larger. */
function ownDeviation(candidate: Candidate, { recorded, byteShares }: ErrorContext): number {
  if (recorded === undefined) return UNRECORDED_DEVIATION;
  const alike = likeness(candidate, recorded, byteShares);
  return Math.sqrt(alike * RECORDED_DEVIATION ** 2 + (1 - alike) * PROTOCOL_DEVIATION ** 2);
}

/** How alike two candidates load the page: the share of its bytes that the same protocol carries, 0 to 1. */
function likeness(a: Candidate, b: Candidate, byteShares: ReadonlyMap<string, number>): number {
  if (a === b) return 1;
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
