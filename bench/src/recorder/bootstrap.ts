import { median } from '@hopwise/contract';
import { quantileSorted } from 'simple-statistics';

/** Medians of paired measurements, and how they differ. */
export interface PairedDifference {
  with: number;
  without: number;
  /** Median of the pairs' differences, with its 95% interval. */
  difference: number;
  low: number;
  high: number;
}

const SAMPLES = 2000;

/** Compares measurements of the same rounds by resampling the rounds (percentile bootstrap; Efron and Tibshirani 1993, chapter 13). */
export function bootstrap(measured: readonly number[], rival: readonly number[]): PairedDifference {
  const differences = measured.map((value, index) => value - rival[index]!);
  const random = randomNumbers(1);
  const medians = Array.from({ length: SAMPLES }, () =>
    median(differences.map(() => differences[Math.floor(random() * differences.length)]!)),
  ).sort((a, b) => a - b);
  return {
    with: median(measured),
    without: median(rival),
    difference: median(differences),
    low: quantileSorted(medians, 0.025),
    high: quantileSorted(medians, 0.975),
  };
}

/** Mulberry32: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
