import { type Candidate, likeness } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error that all candidates of a page share: server and script
 * times, missing requests.
 */
const COMMON_DEVIATION = 0.08;
/**
 * The same of each protocol's own part. Chosen for the smallest regret on the training cells of the gauntlet: the logarithms of two
 * protocols' ratios have errors of 0.13 to 0.18 there, which are not normally distributed, whether the network is given or estimated.
 */
const PROTOCOL_DEVIATION = 0.16;

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
