import type { LogDensity } from '../network/log-density.ts';

/** Logarithm of a likelihood at one value of a figure. */
export interface LikelihoodPoint {
  value: number;
  logLikelihood: number;
}

/**
 * Interpolates a log-likelihood linearly in the logarithm of the value; above the highest point it is constant.
 *
 * @param points ascending, at least one
 * @param below what holds below the lowest point: its value, or the trend of the first two if that falls
 */
export function interpolated(
  points: readonly LikelihoodPoint[],
  value: number,
  below: 'constant' | 'falling' = 'constant',
): number {
  const lowest = points[0]!;
  const highest = points[points.length - 1]!;
  if (value >= highest.value) return highest.logLikelihood;
  if (points.length === 1 || (value <= lowest.value && below === 'constant')) return lowest.logLikelihood;
  let right = 1;
  while (points[right]!.value < value) right++;
  const a = points[right - 1]!;
  const b = points[right]!;
  const part = Math.log(value / a.value) / Math.log(b.value / a.value);
  const result = a.logLikelihood + part * (b.logLikelihood - a.logLikelihood);
  return value < lowest.value ? Math.min(result, lowest.logLikelihood) : result;
}

/**
 * Returns the log-evidence: the logarithm of a likelihood averaged over the prior of the figure.
 *
 * @param points and `below` as of `interpolated`
 */
export function logEvidence(
  prior: LogDensity,
  points: readonly LikelihoodPoint[],
  below: 'constant' | 'falling',
): number {
  return logSum(
    prior.values.map((value, index) => Math.log(prior.weights[index]!) + interpolated(points, value, below)),
  );
}

/** Logarithm of the sum of exponentials. */
export function logSum(values: ArrayLike<number>): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index++) max = Math.max(max, values[index]!);
  if (!Number.isFinite(max)) return max;
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += Math.exp(values[index]! - max);
  return max + Math.log(sum);
}
