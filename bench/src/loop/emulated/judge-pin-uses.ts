/** What the autopilot's pins, and the loads after them, cost or gained, as a share of the time that all loads take by the browser's own choice. */
import { sum } from 'simple-statistics';
import type { LoopVisit } from '../loop-visit.ts';

/**
 * `trial`, `pins`: with pins of a trial, or with others. `after`: without pins, by other protocols than the browser alone, as it has forgotten
 * offers of HTTP/3 or takes it for broken. `alike`: as the browser alone.
 */
const PIN_USES = ['pins', 'trial', 'after', 'alike'] as const;
export type PinUse = (typeof PIN_USES)[number];

/** How a visit of the judged arm used pins. */
export type EmulatedLoopVisit = LoopVisit & { pinUse?: PinUse };

export interface PinUseFigures {
  pinUse: PinUse;
  loads: number;
  /** Their time over that of the browser alone at the same visits. */
  ratio: number;
  /** What they took beyond the browser alone, as a share of the time that all visits take it. */
  cost: number;
}

/** @returns figures of each use of pins that occurred */
export function judgePinUses(visits: readonly EmulatedLoopVisit[]): PinUseFigures[] {
  const keyOf = ({ network, page, visit }: LoopVisit) => JSON.stringify([network, page, visit]);
  const alone = visits.filter(({ arm }) => arm === 'off');
  const aloneMs = new Map(alone.map((visit) => [keyOf(visit), visit.pltMs]));
  const allMs = sum([...aloneMs.values()]);
  return PIN_USES.flatMap((pinUse) => {
    const own = visits.filter((visit) => visit.pinUse === pinUse);
    if (own.length === 0) return [];
    const tookMs = sum(own.map(({ pltMs }) => pltMs));
    const ownAloneMs = sum(own.map((visit) => aloneMs.get(keyOf(visit))!));
    return { pinUse, loads: own.length, ratio: tookMs / ownAloneMs, cost: (tookMs - ownAloneMs) / allMs };
  });
}
