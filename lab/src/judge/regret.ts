/** Regret of a choice: its time over that of the best single protocol, less 1. */

import type { ProtocolMode } from '../loads/protocol-args.ts';
import { SeededRandom } from '../random.ts';
import { meanOrNull } from '../statistics.ts';
import { bestOf, medianAt, mediansAt } from './cell-ground-truth.ts';
import { type BySeed, type CellLoads, doesNotLoad } from './cell-loads.ts';

/**
 * With a choice that does not load the page, a browser falls back: its own choice counts, and where that was not measured
 * HTTP/2 (else HTTP/1.1) after this wait. Chromium's QUIC gives up after this time without an answer (QUICHE, quic_constants.h,
 * kInitialIdleTimeoutSecs).
 */
export const GIVE_UP_MS = 5_000;

/** Minimum number of seeds for comparing halves. */
const HALVES_FROM = 4;
const SPLITS = 200;

/** A random split of a cell's seeds into halves. */
export interface Halves {
  choosing: readonly number[];
  judging: readonly number[];
}

/** Empty for fewer than four seeds. The same for each chooser, and for each cell with as many seeds. */
export function halvesOf(seeds: readonly number[]): Halves[] {
  if (seeds.length < HALVES_FROM) return [];
  const random = new SeededRandom(1);
  const half = Math.floor(seeds.length / 2);
  return Array.from({ length: SPLITS }, () => {
    const shuffled = random.shuffle(seeds);
    return { choosing: shuffled.slice(0, half), judging: shuffled.slice(half) };
  });
}

/**
 * Regret of a choice, judged by loads of the seeds. The browser's own choice is compared with the best protocol over their
 * common seeds, and may be better.
 *
 * @returns null where the loads cannot judge it
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

/** Median over that of the baseline, over their common seeds; null without any. */
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

/** Mean regret of a choice over halves of the loads, comparable with `noiseOf`; null with too few loads. */
export function halfRegretOf(
  cell: CellLoads,
  choice: ProtocolMode,
  halves: readonly Halves[],
): number | null {
  return meanOrNull(halves.flatMap(({ judging }) => regretOf(cell, choice, judging) ?? []));
}

/**
 * Mean regret, on one half of the loads, of an oracle that chose by the other: a lower bound for choosers that know at most one
 * half of the loads and are judged on the other.
 */
export function noiseOf(cell: CellLoads, halves: readonly Halves[]): number | null {
  return meanOrNull(
    halves.flatMap(({ choosing, judging }) => {
      const chosen = bestOf(mediansAt(cell, choosing));
      return chosen === undefined ? [] : (regretOf(cell, chosen, judging) ?? []);
    }),
  );
}
