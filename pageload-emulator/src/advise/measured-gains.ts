import type { AdviceKind } from './improvements.ts';

/** What an advice promised and gained in real loads of one page on one network, as shares of the load time. */
export type MeasuredGain = readonly [
  kind: AdviceKind,
  page: string,
  network: string,
  promised: number,
  /** Of the medians of the loads, with its 95% interval. */
  gained: number,
  low: number,
  high: number,
];

/** Written by `npm run lab -- advise … --write`. */
export const MEASURED_GAINS: readonly MeasuredGain[] = [];
