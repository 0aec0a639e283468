import { type Candidate, likeness } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error: the part that all candidates of a page share (server and
 * script times, missing requests), and the part of each protocol. Of the mixture in `scenarios/spread.ts`, whose root mean square
 * is 0.10, most is taken to belong to the protocol, as the errors of two protocols on one page are nearly independent.
 */
const COMMON_DEVIATION = 0.08;
const PROTOCOL_DEVIATION = 0.1;

/** Covariances of the candidates' emulation errors. Candidates that carry the same bytes by the same protocol share their error. */
export function errorCovariance(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
): number[][] {
  return candidates.map((a) =>
    candidates.map((b) => {
      const alike = a === b ? 1 : likeness(a, b, weights);
      return COMMON_DEVIATION ** 2 + alike * PROTOCOL_DEVIATION ** 2;
    }),
  );
}
