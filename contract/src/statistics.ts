/** Figures of a set of values. None but the sum has one for no values: null or NaN in its place would turn up elsewhere as 0 or as nothing. */

/** Returns the sum; 0 for no values. */
export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/**
 * Returns the quantile of `share`, 0 to 1: interpolated linearly between the two nearest values (type 7 of Hyndman and Fan, The American
 * Statistician 50, 1996). Values may be infinite, as the time of a load that never ends.
 *
 * @throws {RangeError} for no values, or for one that is not a number
 */
export function quantile(values: readonly number[], share: number): number {
  requireValues(values);
  if (values.some(Number.isNaN)) throw new RangeError('expected a number, got NaN');
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)]!;
  const high = sorted[Math.ceil(at)]!;
  // The difference of two infinite values is not a number.
  if (!Number.isFinite(low)) return low;
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the middle value, or the mean of the two in the middle. @throws {RangeError} as `quantile` does */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the arithmetic mean. @throws {RangeError} for no values */
export function mean(values: readonly number[]): number {
  requireValues(values);
  return sum(values) / values.length;
}

/** Returns the sum of the squared distances from the mean. @throws {RangeError} for no values */
export function sumOfSquares(values: readonly number[]): number {
  const centre = mean(values);
  return sum(values.map((value) => (value - centre) ** 2));
}

/** Standard deviations from the median to the 90th percentile of a normal distribution. */
export const TO_90TH = 1.2816;

/** Probability that a standard normal variate is at most `z` (Abramowitz and Stegun 1964, 26.2.17; error below 1e-7). */
export function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const tail =
    density *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}

function requireValues(values: readonly number[]): void {
  if (values.length === 0) throw new RangeError('expected at least one value, got none');
}
