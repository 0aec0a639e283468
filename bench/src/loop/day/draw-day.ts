/** A person's day: pages by how often they are visited, on networks by turns. */
import { MINUTE_MS } from '@hopwise/contract';
import { networkOf } from '@hopwise/lab/client/networks';
import { randomFor, type Split } from '@hopwise/lab/gauntlet/splits';
import type { SeededRandom } from '@hopwise/lab/random';
import { networkNamed } from '../../product/networks.ts';
import { trueCell } from '../../reading/true-load.ts';
import { drawOwnPage } from '../emulated/emulated-page.ts';
import { drawVisit, type EmulatedVisit } from '../emulated/emulated-visit.ts';

/** From one load to the next, minutes, log-uniformly: 200 loads take some seventeen hours. */
const PAUSE_MINUTES = [1, 15] as const;
const BEGINNING_MS = Date.parse('2026-01-05T07:00:00Z');
/** Parts of the day; each begins on the next of the networks. */
const PARTS = 4;

export interface DayPlan {
  split: Split;
  seed: number;
  /** Pages, each of a site of its own. */
  sites: number;
  loads: number;
  /** Names of those that the day changes between. */
  networks: readonly string[];
}

export interface DayVisit {
  network: string;
  /** Since 1970. */
  beganMs: number;
  visit: EmulatedVisit;
}

/** Draws the loads of a day in their order. The page of rank r is visited 1/r as often as the first one (Zipf's law). */
export function drawDay({ split, seed, sites, loads, networks }: DayPlan): DayVisit[] {
  const random = randomFor(split, seed, 'day', networks.join());
  const pages = Array.from({ length: sites }, (_, number) => {
    const page = drawOwnPage(split, seed, number);
    return trueCell({ page, name: page.name, network: networkOf(networkNamed(networks[0]!)) }, number);
  });
  let beganMs = BEGINNING_MS;
  return Array.from({ length: loads }, (_, index) => {
    const network = networks[Math.floor((index * PARTS) / loads) % networks.length]!;
    const [low, high] = PAUSE_MINUTES;
    beganMs += low * (high / low) ** random.fraction() * MINUTE_MS;
    return { network, beganMs, visit: drawVisit(pages[drawRank(sites, random)]!, network, random) };
  });
}

/** @returns from 0 on */
function drawRank(count: number, random: SeededRandom): number {
  const weights = Array.from({ length: count }, (_, rank) => 1 / (rank + 1));
  let left = random.fraction() * weights.reduce((sum, weight) => sum + weight, 0);
  const rank = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return rank < 0 ? count - 1 : rank;
}
