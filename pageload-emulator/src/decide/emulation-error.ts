import { type Candidate, likeness } from './candidates.ts';

/**
 * Standard deviation of the logarithm of a load time's emulation error that all candidates of a page share: server and script
 * times, missing requests.
 */
const COMMON_DEVIATION = 0.08;
/**
 * The same of each protocol's own part. Chosen on the training cells of the gauntlet, where the ratios of two protocols are off by
 * 8 to 10% in the median, by as much with the network given as with it estimated: what is read of the page has the larger part.
 */
const PROTOCOL_DEVIATION = 0.12;

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
