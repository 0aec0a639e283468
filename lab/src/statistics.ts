/** Medians, their spread and confidence intervals. An infinite value stands for a load that never ended. */
import { mean, median, quantile } from '@hopwise/contract';
import { sampleStandardDeviation } from 'simple-statistics';
import { SeededRandom } from './random.ts';

/** Number of loads from which 10th and 90th percentiles are meaningful. */
const PERCENTILES_FROM = 10;

export interface Spread {
  median: number;
  low: number;
  high: number;
  /** Meaning of `low` and `high`: the extremes where there are few values. */
  range: 'min-max' | 'p10-p90';
}

/**
 * Median and spread of at least one value.
 *
 * @throws {RangeError} without values or with one that is no number.
 */
export function spread(values: readonly number[]): Spread {
  const few = values.length < PERCENTILES_FROM;
  return {
    median: median(values),
    low: quantile(values, few ? 0 : 0.1),
    high: quantile(values, few ? 1 : 0.9),
    range: few ? 'min-max' : 'p10-p90',
  };
}

/**
 * Sample standard deviation over mean; null for fewer than two values or when one is infinite.
 *
 * @throws {RangeError} without values, with one that is no number, or with a mean of 0.
 */
export function coefficientOfVariation(values: readonly number[]): number | null {
  if (values.some(Number.isNaN)) throw new RangeError('expected a number, got NaN');
  const centre = mean(values);
  if (centre === 0) throw new RangeError('a mean of 0: expected values with another mean');
  if (values.length < 2 || !Number.isFinite(centre)) return null;
  return sampleStandardDeviation([...values]) / Math.abs(centre);
}

/** An estimate and the interval that holds the true value with the level's probability. */
export interface ConfidenceInterval {
  estimate: number;
  low: number;
  high: number;
}

interface BootstrapOptions {
  /** Equal seeds give equal intervals; 1 unless given. */
  seed?: number;
  /** 2,000 unless given. */
  resamples?: number;
  /** 0.95 unless given. */
  level?: number;
}

/** An interval is rejected when fewer than this share of the resamples have the figure. */
const MIN_RESAMPLES_SHARE = 0.9;

/**
 * Percentile interval of a figure (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13).
 *
 * @param resample draws with replacement and returns the figure; null where it is undefined
 * @returns null where more than a tenth of the resamples lack the figure
 */
export function bootstrapInterval(
  estimate: number,
  resample: (random: SeededRandom) => number | null,
  { seed = 1, resamples = 2000, level = 0.95 }: BootstrapOptions = {},
): ConfidenceInterval | null {
  const random = new SeededRandom(seed);
  const replicates: number[] = [];
  for (let index = 0; index < resamples; index++) {
    const figure = resample(random);
    if (figure !== null) replicates.push(figure);
  }
  if (replicates.length < MIN_RESAMPLES_SHARE * resamples) return null;
  const tail = (1 - level) / 2;
  return {
    estimate,
    low: quantile(replicates, tail),
    high: quantile(replicates, 1 - tail),
  };
}

/**
 * Percentile interval of a median. For few values it is too narrow, and for one it has no width.
 *
 * @throws {RangeError} without values or with one that is no number.
 */
export function bootstrapMedian(values: readonly number[], options?: BootstrapOptions): ConfidenceInterval {
  return bootstrapInterval(
    median(values),
    (random) => median(drawn(values, random)),
    options,
  ) as ConfidenceInterval;
}

/**
 * Percentile interval of median(values) ÷ median(baseline). Values and baseline at the same index belong to the same seed and
 * are drawn together.
 *
 * @throws {RangeError} without values, with one that is no number, with sides of different lengths, or a baseline with one
 * that is not above 0 or infinite.
 */
export function bootstrapMedianRatio(
  values: readonly number[],
  baseline: readonly number[],
  options?: BootstrapOptions,
): ConfidenceInterval {
  if (values.length !== baseline.length) {
    throw new RangeError(`${values.length} values, ${baseline.length} of the baseline: expected pairs`);
  }
  const bad = baseline.find((value) => !(value > 0 && Number.isFinite(value)));
  if (bad !== undefined) throw new RangeError(`${bad}: expected a baseline above 0`);
  const pairs = values.map((value, index) => [value, baseline[index] as number] as const);
  const ratio = (of: readonly (readonly [number, number])[]) =>
    median(of.map(([value]) => value)) / median(of.map(([, base]) => base));
  return bootstrapInterval(
    ratio(pairs),
    (random) => ratio(drawn(pairs, random)),
    options,
  ) as ConfidenceInterval;
}

/** Draws as many values as there are, with replacement. */
export function drawn<T>(items: readonly T[], random: SeededRandom): T[] {
  return items.map(() => random.pick(items));
}

/** The mean; null for no values, which a table shows as a dash. */
export const meanOrNull = (values: readonly number[]): number | null =>
  values.length === 0 ? null : mean(values);

/** The median; null for no values. */
export const medianOrNull = (values: readonly number[]): number | null =>
  values.length === 0 ? null : median(values);
