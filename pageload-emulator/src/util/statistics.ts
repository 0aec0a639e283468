/** The quantile of `share`, 0 to 1, interpolated linearly between the values; null for no values. */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low]! + (sorted[high]! - sorted[low]!) * (at - low);
}

/** The median; NaN for no values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5) ?? Number.NaN;
}

/** The arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

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

/** Index of the value nearest to `target`, the first of several equally near; 0 for no values. */
export function indexOfNearest(values: readonly number[], target: number): number {
  let nearest = 0;
  for (const [index, value] of values.entries()) {
    if (Math.abs(value - target) < Math.abs(values[nearest]! - target)) nearest = index;
  }
  return nearest;
}
