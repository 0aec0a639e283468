import { median } from '@hopwise/contract';
/** A median, and an interval between two of the values that holds the true median. */
export interface MedianInterval {
  median: number;
  low: number;
  high: number;
  /** Probability that the interval holds the true median, 0 to 1. */
  coverage: number;
}

const LEVEL = 0.95;

/**
 * Distribution-free interval of a median by order statistics (David and Nagaraja, Order Statistics, 2003, section 7.1): the
 * narrowest between the k-th smallest and the k-th largest value that holds the median with 95%. Fewer than six values do not reach
 * that; theirs is from the smallest to the largest, with the coverage that it has.
 *
 * @throws {RangeError} without values
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const ordered = values.toSorted((a, b) => a - b);
  const count = ordered.length;
  if (count === 0) throw new RangeError('no values');
  let rank = 0;
  let tail = 0.5 ** count;
  let coverage = 1 - 2 * tail;
  // Binomial coefficient, by which the probability of exactly `rank` values below the median grows.
  let ways = 1;
  while (rank + 1 < count / 2) {
    ways *= (count - rank) / (rank + 1);
    const wider = tail + ways * 0.5 ** count;
    if (1 - 2 * wider < LEVEL) break;
    tail = wider;
    coverage = 1 - 2 * tail;
    rank++;
  }
  return { median: median(ordered), low: ordered[rank]!, high: ordered[count - 1 - rank]!, coverage };
}
