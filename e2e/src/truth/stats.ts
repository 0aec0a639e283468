import { medianSorted, quantileSorted } from 'simple-statistics';

/** Loads from which tenth and ninetieth percentiles mean something. */
const PERCENTILES_FROM = 10;

export interface Spread {
  median: number;
  low: number;
  high: number;
  /** What `low` and `high` are: the extremes where there are few values. */
  range: 'min-max' | 'p10-p90';
}

/**
 * Median and spread of at least one value.
 *
 * @throws {RangeError} without values or with one that is not finite.
 */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('no values');
  const bad = values.find((value) => !Number.isFinite(value));
  if (bad !== undefined) throw new RangeError(`${bad}: expected a finite number`);
  const sorted = values.toSorted((a, b) => a - b);
  const few = sorted.length < PERCENTILES_FROM;
  return {
    median: medianSorted(sorted),
    low: few ? (sorted[0] as number) : quantileSorted(sorted, 0.1),
    high: few ? (sorted.at(-1) as number) : quantileSorted(sorted, 0.9),
    range: few ? 'min-max' : 'p10-p90',
  };
}
