/** What the autopilot's ways to load a page cost or gained, of the time that all loads take by the browser's own choice. */
import { sum } from 'simple-statistics';
import type { LoopVisit } from '../loop-visit.ts';

/**
 * `trial`, `pins`: with pins of a trial, or with others. `after`: without pins, by other protocols than the browser alone, as it has forgotten
 * offers of HTTP/3 or takes it for broken. `alike`: as the browser alone.
 */
export const WAYS = ['pins', 'trial', 'after', 'alike'] as const;
export type Way = (typeof WAYS)[number];

/** A visit of the judged arm has its way. */
export type EmulatedLoopVisit = LoopVisit & { way?: Way };

export interface WayFigures {
  way: Way;
  loads: number;
  /** Their time over that of the browser alone at the same visits. */
  ratio: number;
  /** What they took beyond the browser alone, as a share of the time that all visits take it. */
  cost: number;
}

/** @returns figures of each way in use */
export function judgeWays(visits: readonly EmulatedLoopVisit[]): WayFigures[] {
  const keyOf = ({ network, page, visit }: LoopVisit) => JSON.stringify([network, page, visit]);
  const alone = visits.filter(({ arm }) => arm === 'off');
  const aloneMs = new Map(alone.map((visit) => [keyOf(visit), visit.pltMs]));
  const allMs = sum([...aloneMs.values()]);
  return WAYS.flatMap((way) => {
    const own = visits.filter((visit) => visit.way === way);
    if (own.length === 0) return [];
    const tookMs = sum(own.map(({ pltMs }) => pltMs));
    const ownAloneMs = sum(own.map((visit) => aloneMs.get(keyOf(visit))!));
    return { way, loads: own.length, ratio: tookMs / ownAloneMs, cost: (tookMs - ownAloneMs) / allMs };
  });
}
