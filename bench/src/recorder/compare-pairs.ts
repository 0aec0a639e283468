import { median } from '@hopwise/contract';
import { bootstrapMedian } from '@hopwise/lab/statistics';

/** Medians of paired measurements, and how they differ. */
interface PairedDifference {
  with: number;
  without: number;
  /** Median of the pairs' differences, with its 95% interval. */
  difference: number;
  low: number;
  high: number;
}

/** Compares measurements of the same rounds by resampling the rounds. */
export function comparePairs(measured: readonly number[], rival: readonly number[]): PairedDifference {
  const { estimate, low, high } = bootstrapMedian(measured.map((value, index) => value - rival[index]!));
  return { with: median(measured), without: median(rival), difference: estimate, low, high };
}
