/** Fits the prior of `pageload-emulator/src/decide/experience.ts` to measured cells. */

import { mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { isUdpFree } from '@hopwise/lab/judge/rules';
import { experienceOf, REFERENCE_RTT_MS } from '@hopwise/pageload-emulator';
import { linearRegression, standardDeviation } from 'simple-statistics';
import type { Cell } from './cells.ts';

/** With fewer cells there is no fit. */
const FEWEST_CELLS = 8;

/** Linear fit of log(PLT / PLT over HTTP/2) on the logarithm of the round trip. */
export interface ExperienceFit {
  /** At 50 ms. */
  mean: number;
  /** For each factor of e in the round trip. */
  slope: number;
  /** Standard deviation around the line, load noise included. */
  deviation: number;
  /** What hopwise uses at 50 ms. */
  used: { mean: number; deviation: number };
  cells: number;
}

/** @returns null with too few cells in which UDP is open and both protocols load the page */
export function fitExperience(cells: readonly Cell[], protocol: 'h1' | 'h3'): ExperienceFit | null {
  const points = cells.flatMap(({ link, path, loads }): [number, number][] => {
    const { h2, [protocol]: own } = mediansAt(loads, loads.seeds);
    if (!isUdpFree(link) || h2 === undefined || own === undefined) return [];
    return [[Math.log(Math.max(1, path.rttMs) / REFERENCE_RTT_MS), Math.log(own / h2)]];
  });
  const [first] = cells;
  if (first === undefined || points.length < FEWEST_CELLS) return null;
  const { m: slope, b: mean } = linearRegression(points);
  const used = experienceOf({ ...first.path, rttMs: REFERENCE_RTT_MS, udp: { kind: 'open' } })[protocol]!;
  return {
    mean,
    slope,
    deviation: standardDeviation(points.map(([x, y]) => y - mean - slope * x)),
    used,
    cells: points.length,
  };
}
