/** What advice promised, beside what it gained. */
import { median } from '@hopwise/contract';
import { gainOfAdvice, keepsPromise, type MeasuredGain, MIN_GAIN } from '@hopwise/pageload-emulator';
import { toNetworkPath } from '../client/networks.ts';
import { bootstrapMedianRatio } from '../statistics.ts';
import type { AdviceCell } from './measure-cell.ts';
import { EXPERIMENTS, recordedWith, type TestableAdvice } from './set-ups.ts';

/** What one advice gains in one cell, as shares of the load time. */
export interface JudgedAdvice {
  page: string;
  /** With the servers where they are not the Go ones. */
  network: string;
  kind: TestableAdvice;
  /** By the recording ahead of the loads, and the figures of the network. */
  promised: number;
  /** Gain by the medians. */
  gain: number;
  /** Gain − promise, with its 95% interval (bootstrap over rounds). */
  difference: { estimate: number; low: number; high: number };
  isKept: boolean;
}

/** The advice that a cell has loads for. */
export function judgeCell(cell: AdviceCell, kinds: readonly TestableAdvice[]): JudgedAdvice[] {
  const { page, path, timesMs, recordings, gzipBytes } = cell;
  const network = cell.stack === 'go' ? cell.network : `${cell.network}, nginx`;
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
    return [{ page, network, kind, promised, gain, difference, isKept: keepsPromise(promised, gain) }];
  });
}

/** The rule that `hopwise advise` goes by. */
export function asMeasuredGain({
  kind,
  page,
  network,
  promised,
  gain,
  difference,
}: JudgedAdvice): MeasuredGain {
  const [low, high] = [difference.low, difference.high].map((each) => each + promised) as [number, number];
  return [kind, page, network, rounded(promised), rounded(gain), rounded(low), rounded(high)];
}

const rounded = (share: number): number => Number(share.toFixed(4));

/** One kind of advice over all cells. */
export interface KindSummary {
  kind: TestableAdvice;
  cells: number;
  /** Cells in which enough is promised for the advice to be given. */
  given: number;
  /** How many of these keep the promise. */
  kept: number;
  /** Their medians of promise and gain, and of their absolute difference; null where it is given in none. */
  medians: { promised: number; gain: number; difference: number } | null;
}

export function summariseKinds(judged: readonly JudgedAdvice[]): KindSummary[] {
  return [...new Set(judged.map(({ kind }) => kind))].map((kind) => {
    const cells = judged.filter((each) => each.kind === kind);
    const given = cells.filter(({ promised }) => promised >= MIN_GAIN);
    return {
      kind,
      cells: cells.length,
      given: given.length,
      kept: given.filter(({ isKept }) => isKept).length,
      medians:
        given.length === 0
          ? null
          : {
              promised: median(given.map(({ promised }) => promised)),
              gain: median(given.map(({ gain }) => gain)),
              difference: median(given.map(({ difference }) => Math.abs(difference.estimate))),
            },
    };
  });
}
