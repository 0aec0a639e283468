/** What loads of a cell tell of its protocols, and how sure it is. */
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { median } from 'simple-statistics';
import { Random } from '../pages/random.ts';
import type { BySeed, Cell } from './cells.ts';

/** Median page load time of each protocol that loaded the page, milliseconds. */
export type Medians = Partial<Record<Protocol, number>>;

export interface Truth {
  medians: Medians;
  /** Of the browser's own choices; null without such loads. */
  naturalMs: number | null;
  best: Protocol;
  bestMs: number;
  /** Runner-up's median over the best one's, less 1. */
  lead: number;
  /** Share of bootstraps over the seeds in which the same protocol is best. */
  agreement: number;
}

const BOOTSTRAPS = 200;
const SPLITS = 60;

export function truthOf(cell: Cell): Truth {
  const medians = mediansOf(cell);
  const ranked = ranking(medians);
  const [best, runnerUp] = ranked as [Protocol, Protocol];
  const natural = cell.pltMs.get('natural');
  return {
    medians,
    naturalMs: natural ? median([...natural.values()]) : null,
    best,
    bestMs: medians[best]!,
    lead: medians[runnerUp]! / medians[best]! - 1,
    agreement: agreement(cell, best),
  };
}

/** Protocols with a time, fastest first. */
export function ranking(times: Medians): Protocol[] {
  return PROTOCOLS.filter((protocol) => times[protocol] !== undefined).sort((a, b) => times[a]! - times[b]!);
}

/** Loads of one seed meet the same losses under every protocol and are drawn together. */
function agreement(cell: Cell, best: Protocol): number {
  const random = new Random(1);
  const seeds = seedsOf(cell);
  let agreed = 0;
  let drawn = 0;
  for (let round = 0; round < BOOTSTRAPS; round++) {
    const sample = seeds.map(() => random.pick(seeds));
    const ranked = ranking(mediansOf(cell, sample));
    if (ranked.length < 2) continue;
    drawn++;
    if (ranked[0] === best) agreed++;
  }
  return drawn === 0 ? 0 : agreed / drawn;
}

/** Half of a cell's loads to choose by, the other half to judge by. */
export interface Split {
  /** Best protocol of the one half. */
  chosen: Protocol;
  /** Medians of the other. */
  medians: Medians;
  naturalMs: number | null;
  bestMs: number;
}

/** Random halves of the seeds; none where there are too few of them. */
export function splitsOf(cell: Cell): Split[] {
  const random = new Random(1);
  const seeds = seedsOf(cell);
  const natural = cell.pltMs.get('natural');
  const splits: Split[] = [];
  for (let round = 0; round < SPLITS; round++) {
    const shuffled = random.shuffle(seeds);
    const half = Math.floor(seeds.length / 2);
    const [chosen] = ranking(mediansOf(cell, shuffled.slice(0, half)));
    const judging = shuffled.slice(half);
    const medians = mediansOf(cell, judging);
    const [best] = ranking(medians);
    if (chosen === undefined || best === undefined || medians[chosen] === undefined) continue;
    const naturalTimes = natural ? timesAt(natural, judging) : [];
    splits.push({
      chosen,
      medians,
      naturalMs: naturalTimes.length > 0 ? median(naturalTimes) : null,
      bestMs: medians[best]!,
    });
  }
  return splits;
}

/** Seeds under which any protocol was forced. */
function seedsOf({ pltMs }: Cell): number[] {
  const seeds = new Set(PROTOCOLS.flatMap((protocol) => [...(pltMs.get(protocol)?.keys() ?? [])]));
  return [...seeds].sort((a, b) => a - b);
}

function mediansOf({ pltMs }: Cell, seeds?: readonly number[]): Medians {
  const medians: Medians = {};
  for (const protocol of PROTOCOLS) {
    const bySeed = pltMs.get(protocol);
    if (bySeed === undefined) continue;
    const times = seeds ? timesAt(bySeed, seeds) : [...bySeed.values()];
    if (times.length > 0) medians[protocol] = median(times);
  }
  return medians;
}

function timesAt(bySeed: BySeed, seeds: readonly number[]): number[] {
  return seeds.flatMap((seed) => bySeed.get(seed) ?? []);
}
