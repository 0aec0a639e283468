/** What advice promised, beside what it gained. */
import { gainOfAdvice } from '@hopwise/pageload-emulator';
import { toNetworkPath } from '../client/networks.ts';
import { bootstrapMedianRatio, median } from '../statistics.ts';
import type { AdviceCell } from './measure-cell.ts';
import { EXPERIMENTS, recordedWith, type TestableAdvice } from './set-ups.ts';

/** A promise counts as kept when the gain is within this of it, a share of the load time. */
export const TOLERANCE = 0.05;

/** What one advice gains in one cell, as shares of the load time. */
export interface JudgedAdvice {
  page: string;
  network: string;
  kind: TestableAdvice;
  /** By the recording ahead of the loads, and the figures of the network. */
  promised: number;
  /** Of the medians. */
  gain: number;
  /** Gain − promise, with its 95% interval (bootstrap over rounds). */
  difference: { estimate: number; low: number; high: number };
  isKept: boolean;
}

/** The advice that a cell has loads for. */
export function judgeCell(cell: AdviceCell, kinds: readonly TestableAdvice[]): JudgedAdvice[] {
  const { page, network, path, timesMs, recordings, gzipBytes } = cell;
  return kinds.flatMap((kind) => {
    const { before, after } = EXPERIMENTS[kind];
    const beforeMs = timesMs[before];
    const afterMs = timesMs[after];
    const recording = recordings[recordedWith(kind)];
    if (!beforeMs || !afterMs || !recording) return [];
    const gzip = new Map(Object.entries(gzipBytes));
    const promised = gainOfAdvice(recording, kind, toNetworkPath(path), { gzipBytes: gzip });
    const ratio = bootstrapMedianRatio(afterMs, beforeMs);
    const gain = 1 - ratio.estimate;
    const difference = {
      estimate: gain - promised,
      low: 1 - ratio.high - promised,
      high: 1 - ratio.low - promised,
    };
    return [{ page, network, kind, promised, gain, difference, isKept: isWithin(difference.estimate) }];
  });
}

const isWithin = (difference: number): boolean => Math.abs(difference) <= TOLERANCE;

/** One kind of advice over all cells. */
export interface KindSummary {
  kind: TestableAdvice;
  cells: number;
  /** Of the cells: medians of promise and gain, and of their absolute difference. */
  promised: number;
  gain: number;
  difference: number;
  /** Share of the cells in which the promise is kept. */
  kept: number;
}

export function summariseKinds(judged: readonly JudgedAdvice[]): KindSummary[] {
  return [...new Set(judged.map(({ kind }) => kind))].map((kind) => {
    const cells = judged.filter((each) => each.kind === kind);
    return {
      kind,
      cells: cells.length,
      promised: median(cells.map(({ promised }) => promised)),
      gain: median(cells.map(({ gain }) => gain)),
      difference: median(cells.map(({ difference }) => Math.abs(difference.estimate))),
      kept: cells.filter(({ isKept }) => isKept).length / cells.length,
    };
  });
}
