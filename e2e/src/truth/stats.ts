/** Medians, their spread, and how sure they are. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, medianSorted, quantileSorted, sampleStandardDeviation } from 'simple-statistics';

/** Loads from which tenth and ninetieth percentiles mean something. */
const PERCENTILES_FROM = 10;

export interface Spread {
  median: number;
  low: number;
  high: number;
  /** What `low` and `high` are: the extremes where there are few values. */
  range: 'min-max' | 'p10-p90';
}

/** @throws {RangeError} without values or with one that is not finite. */
export function median(values: readonly number[]): number {
  return medianSorted(sortedFinite(values));
}

/**
 * Median and spread of at least one value.
 *
 * @throws {RangeError} without values or with one that is not finite.
 */
export function spread(values: readonly number[]): Spread {
  const sorted = sortedFinite(values);
  const few = sorted.length < PERCENTILES_FROM;
  return {
    median: medianSorted(sorted),
    low: few ? (sorted[0] as number) : quantileSorted(sorted, 0.1),
    high: few ? (sorted.at(-1) as number) : quantileSorted(sorted, 0.9),
    range: few ? 'min-max' : 'p10-p90',
  };
}

/**
 * Sample standard deviation over mean; null of fewer than two values.
 *
 * @throws {RangeError} without values, with one that is not finite, or with a mean of 0.
 */
export function coefficientOfVariation(values: readonly number[]): number | null {
  const sorted = sortedFinite(values);
  const centre = mean(sorted);
  if (centre === 0) throw new RangeError('a mean of 0: expected values that vary about another one');
  return sorted.length < 2 ? null : sampleStandardDeviation(sorted) / Math.abs(centre);
}

/** An estimate and the interval that holds the true value with the level's probability. */
export interface Interval {
  estimate: number;
  low: number;
  high: number;
}

export interface BootstrapOptions {
  /** Equal seeds give equal intervals; 1 unless given. */
  seed?: number;
  /** 2,000 unless given. */
  resamples?: number;
  /** 0.95 unless given. */
  level?: number;
}

/**
 * Percentile interval of a median (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). Of few values it is
 * narrower than it should be, and of one it has no width.
 *
 * @throws {RangeError} without values or with one that is not finite.
 */
export function bootstrapMedian(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const sorted = sortedFinite(values);
  return percentileInterval(medianSorted(sorted), (random) => resampledMedian(sorted, random), options);
}

/**
 * Percentile interval of median(values) ÷ median(baseline), each resampled by itself.
 *
 * @throws {RangeError} without values on a side, with one that is not finite, or a baseline with one that is not above 0.
 */
export function bootstrapMedianRatio(
  values: readonly number[],
  baseline: readonly number[],
  options: BootstrapOptions = {},
): Interval {
  const above = sortedFinite(values);
  const below = sortedFinite(baseline);
  if ((below[0] as number) <= 0) throw new RangeError(`${below[0]}: expected a baseline above 0`);
  return percentileInterval(
    medianSorted(above) / medianSorted(below),
    (random) => resampledMedian(above, random) / resampledMedian(below, random),
    options,
  );
}

function percentileInterval(
  estimate: number,
  resample: (random: RandomGenerator) => number,
  { seed = 1, resamples = 2000, level = 0.95 }: BootstrapOptions,
): Interval {
  const random = xoroshiro128plus(seed);
  const replicates = Array.from({ length: resamples }, () => resample(random)).sort((a, b) => a - b);
  const tail = (1 - level) / 2;
  return {
    estimate,
    low: quantileSorted(replicates, tail),
    high: quantileSorted(replicates, 1 - tail),
  };
}

function resampledMedian(values: readonly number[], random: RandomGenerator): number {
  const drawn = Float64Array.from(
    values,
    () => values[uniformInt(random, 0, values.length - 1)] as number,
  ).sort();
  const middle = drawn.length >> 1;
  const upper = drawn[middle] as number;
  return drawn.length % 2 === 1 ? upper : ((drawn[middle - 1] as number) + upper) / 2;
}

function sortedFinite(values: readonly number[]): number[] {
  if (values.length === 0) throw new RangeError('no values');
  const bad = values.find((value) => !Number.isFinite(value));
  if (bad !== undefined) throw new RangeError(`${bad}: expected a finite number`);
  return values.toSorted((a, b) => a - b);
}
