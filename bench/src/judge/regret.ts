/** What a choice costs: its time over that of the best protocol for all origins, less 1. */

import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { Random } from '@hopwise/lab/random';
import { mean } from 'simple-statistics';
import { bestOf, medianAt, mediansAt } from './cell-ground-truth.ts';
import { type BySeed, type CellLoads, doesNotLoad } from './cell-loads.ts';

/**
 * Who is steered to a protocol that does not load the page gets it all the same, later: the browser's own choice is taken, and
 * where that was not measured HTTP/2 (else HTTP/1.1) after this wait. Chromium's QUIC gives up when nothing has answered
 * for so long (QUICHE, quic_constants.h, kInitialIdleTimeoutSecs).
 */
export const GIVE_UP_MS = 5_000;

/** Seeds from which halves of them can be compared. */
const HALVES_FROM = 4;
const SPLITS = 200;

/** Random halves of a cell's seeds. */
export interface Halves {
  choosing: readonly number[];
  judging: readonly number[];
}

/** None of fewer than four seeds. The same for each way to choose, and for each cell with as many. */
export function halvesOf(seeds: readonly number[]): Halves[] {
  if (seeds.length < HALVES_FROM) return [];
  const random = new Random(1);
  const half = Math.floor(seeds.length / 2);
  return Array.from({ length: SPLITS }, () => {
    const shuffled = random.shuffle(seeds);
    return { choosing: shuffled.slice(0, half), judging: shuffled.slice(half) };
  });
}

/**
 * Regret of a choice, judged by loads of the seeds. The browser's own choice is held against the best protocol over the seeds
 * that both have, and may be better than it.
 *
 * @returns null where the loads do not tell
 */
export function regretOf(
  cell: CellLoads,
  choice: ProtocolMode,
  seeds: readonly number[] = cell.seeds,
): number | null {
  const medians = mediansAt(cell, seeds);
  const best = bestOf(medians);
  if (best === undefined) return null;
  const bestMs = medians[best]!;
  if (choice !== 'natural' && medians[choice] !== undefined) return medians[choice] / bestMs - 1;
  const natural = pairedRatio(cell.pltMs.get('natural'), cell.pltMs.get(best), seeds);
  if (natural !== null && Number.isFinite(natural)) return natural - 1;
  if (choice === 'natural' && natural === null && !doesNotLoad(cell, 'natural')) return null;
  const later = medians.h2 ?? medians.h1;
  return later === undefined ? null : (later + GIVE_UP_MS) / bestMs - 1;
}

/** Median over that of the baseline, over those of the seeds that both have; null where there is none. */
export function pairedRatio(
  values: BySeed | undefined,
  baseline: BySeed | undefined,
  seeds: readonly number[],
): number | null {
  const shared = seeds.filter((seed) => values?.has(seed) && baseline?.has(seed));
  const above = medianAt(values, shared);
  const below = medianAt(baseline, shared);
  return above === null || below === null || !Number.isFinite(below) ? null : above / below;
}

/** Mean regret of a choice over halves of the loads, to hold against `noiseOf`; null where there are too few. */
export function halfRegretOf(
  cell: CellLoads,
  choice: ProtocolMode,
  halves: readonly Halves[],
): number | null {
  return meanOrNull(halves.flatMap(({ judging }) => regretOf(cell, choice, judging) ?? []));
}

/**
 * Mean regret, on one half of the loads, of an oracle that chose by the other: a floor for choosers that are judged on half of
 * the loads, and go by no more than the other half.
 */
export function noiseOf(cell: CellLoads, halves: readonly Halves[]): number | null {
  return meanOrNull(
    halves.flatMap(({ choosing, judging }) => {
      const chosen = bestOf(mediansAt(cell, choosing));
      return chosen === undefined ? [] : (regretOf(cell, chosen, judging) ?? []);
    }),
  );
}

const meanOrNull = (values: number[]): number | null => (values.length === 0 ? null : mean(values));
