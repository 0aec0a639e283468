import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { type EmulatedPage, emulateLoads, type WhatIfSettings } from './what-if.ts';

/** Round trips of the map's columns, milliseconds, and losses of its rows, fractions. */
export const MAP_RTTS_MS = [5, 10, 20, 35, 60, 100, 170, 300, 500] as const;
export const MAP_LOSSES = [0, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05] as const;
/** Loads with losses differ: each cell is the mean of as many. */
const SEEDS = [1, 2, 3] as const;
/** A protocol that leads by less is not called the fastest. */
const MIN_LEAD = 0.03;

/** The fastest protocol on one network of the map. */
export interface MapCell {
  rttMs: number;
  loss: number;
  /** Null where the two fastest are about equal. */
  winner: Protocol | null;
  /** Time of the second fastest over that of the fastest, less 1; 0 where only one loads the page. */
  lead: number;
}

/** The cell of one round trip and loss, with all else as in the settings. */
export function computeCell(
  page: EmulatedPage,
  settings: WhatIfSettings,
  rttMs: number,
  loss: number,
): MapCell {
  const network = { ...settings.network, rttMs, loss };
  const loads = (loss === 0 ? SEEDS.slice(0, 1) : SEEDS).map((seed) =>
    emulateLoads(page, { ...settings, network }, seed),
  );
  const times = PROTOCOLS.flatMap((protocol) => {
    const own = loads.map((load) => load[protocol]);
    return own.some((ms) => ms === null)
      ? []
      : [{ protocol, ms: own.reduce<number>((sum, ms) => sum + ms!, 0) / own.length }];
  }).sort((a, b) => a.ms - b.ms);
  const [first, second] = times;
  const lead = first && second ? second.ms / first.ms - 1 : 0;
  return { rttMs, loss, winner: first && (!second || lead >= MIN_LEAD) ? first.protocol : null, lead };
}
