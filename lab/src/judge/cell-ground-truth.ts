/** The protocol that loads a page fastest, its lead, and how certain that is. */

import { median } from '@hopwise/contract';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { SeededRandom } from '../random.ts';
import { drawn } from '../statistics.ts';
import type { BySeed, CellLoads } from './cell-loads.ts';

/** Median page load time of each protocol that loads the page, milliseconds. */
export type Medians = Partial<Record<Protocol, number>>;

/** Medians and their bootstraps, of forced loads with the seeds that all compared protocols have. */
export interface CellGroundTruth {
  seeds: number;
  medians: Medians;
  best: Protocol;
  /** Next protocol's median over the best one's, less 1. */
  lead: number;
  /** By protocol: the share of bootstraps over the seeds in which its median is the lowest. */
  wins: Medians;
  /** The best protocol's share in `wins`. */
  agreement: number;
  /** The lead is above 5%. */
  clear: boolean;
  /** Clear, over at least five seeds, and 90% of the bootstraps agree. */
  decided: boolean;
}

export const CLEAR_LEAD = 0.05;
export const DECIDED_SEEDS = 5;
export const DECIDED_AGREEMENT = 0.9;

const BOOTSTRAPS = 1000;

/** @returns null where fewer than two protocols load the page */
export function groundTruthOf(
  cell: CellLoads,
  seeds: readonly number[] = cell.seeds,
): CellGroundTruth | null {
  const medians = mediansAt(cell, seeds);
  const [best, next] = ranked(medians);
  if (best === undefined || next === undefined) return null;
  const lead = medians[next]! / medians[best]! - 1;
  const wins = winsOf(cell, seeds);
  const agreement = wins[best] ?? 0;
  const clear = medians[next]! > (1 + CLEAR_LEAD) * medians[best]!;
  return {
    seeds: seeds.length,
    medians,
    best,
    lead,
    wins,
    agreement,
    clear,
    decided: clear && seeds.length >= DECIDED_SEEDS && agreement >= DECIDED_AGREEMENT,
  };
}

/** Finite medians of the forced protocols over loads of the seeds. */
export function mediansAt({ pltMs }: CellLoads, seeds: readonly number[]): Medians {
  const medians: Medians = {};
  for (const protocol of PROTOCOLS) {
    const time = medianAt(pltMs.get(protocol), seeds);
    if (time !== null && Number.isFinite(time)) medians[protocol] = time;
  }
  return medians;
}

/** Median over the available seeds; null without any. */
export function medianAt(bySeed: BySeed | undefined, seeds: readonly number[]): number | null {
  const times = seeds.flatMap((seed) => bySeed?.get(seed) ?? []);
  return times.length === 0 ? null : median(times);
}

/** The protocol with the lowest median. */
export const bestOf = (medians: Medians): Protocol | undefined => ranked(medians)[0];

function ranked(medians: Medians): Protocol[] {
  return PROTOCOLS.filter((protocol) => medians[protocol] !== undefined).sort(
    (a, b) => medians[a]! - medians[b]!,
  );
}

/** Each cell has its own random numbers, so that other cells do not affect it. */
function winsOf(cell: CellLoads, seeds: readonly number[]): Medians {
  const random = new SeededRandom(1);
  const wins: Medians = {};
  for (let round = 0; round < BOOTSTRAPS; round++) {
    const best = bestOf(mediansAt(cell, drawn(seeds, random)));
    if (best !== undefined) wins[best] = (wins[best] ?? 0) + 1;
  }
  return Object.fromEntries(
    Object.entries(wins).map(([protocol, rounds]) => [protocol, rounds / BOOTSTRAPS]),
  );
}
