/** Whether loads with pins take longer than those before, decided anew after each load. */
import { mean, sumOfSquares } from '@hopwise/contract';

/** The most loads with the pins that are compared. */
export const MAX_CHECKED_LOADS = 5;

/**
 * Critical value of Pocock's test with five looks at a one-sided level of 5% for all looks together (Pocock, Group sequential methods
 * in the design and analysis of clinical trials, Biometrika 64, 1977; two-sided 10% in his Table 1).
 */
const POCOCK = 2.122;

/** Standard deviation of the logarithm of a load's time before any was measured, and the number of loads that it counts as. */
const PRIOR_DEVIATION = 0.2;
const PRIOR_WEIGHT = 2;

/**
 * Whether some loads surely take longer than others: those after a change than those before it, or the reverse. Compares means of the logarithms of load times, with the
 * variance pooled from both and a prior. If the change has no effect, one of five looks says "slower" in at most 5% of cases
 * where load times vary by up to 25%, and in at most 8% where they vary by 40%.
 *
 * @param beforeMs at least one
 * @param afterMs at least one; of what comes after a change at most `MAX_CHECKED_LOADS`
 */
export function isSlower(beforeMs: readonly number[], afterMs: readonly number[]): boolean {
  const [before, after] = [beforeMs.map(Math.log), afterMs.map(Math.log)];
  const degrees = PRIOR_WEIGHT + before.length + after.length - 2;
  const squares = PRIOR_WEIGHT * PRIOR_DEVIATION ** 2 + sumOfSquares(before) + sumOfSquares(after);
  const deviation = Math.sqrt((squares / degrees) * (1 / before.length + 1 / after.length));
  return mean(after) - mean(before) > quantileOfT(POCOCK, degrees) * deviation;
}

/** Quantile of Student's t for the probability of a normal quantile `z` (Abramowitz and Stegun 26.7.5, three terms). */
function quantileOfT(z: number, degrees: number): number {
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, index) => sum + term / degrees ** (index + 1), z);
}
