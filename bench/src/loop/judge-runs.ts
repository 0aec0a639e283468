/** What the autopilot's pins did to the loads that they were in force for, and how long they stayed. */
import { groupBy, median } from '@hopwise/contract';
import type { ProductArm } from '../product/arms.ts';
import { networkAt } from '../product/run-product.ts';
import type { StoredRun } from '../product/store.ts';
import type { LoopVisit } from './loop-visit.ts';

/** Below and above these ratios loads count as faster and slower. */
const FASTER = 0.95;
const SLOWER = 1.05;

/** A run of the autopilot on one page and network. */
export interface JudgedRun {
  /** The network at the time; the part of `a>b` where one replaces another. */
  network: string;
  page: string;
  trigger: StoredRun['trigger'];
  kinds: string[];
  /** Loads that it was in force for. */
  loads: number;
  /** Geometric mean of their times over those of the browser alone at the same visits, with the same losses. */
  ratio: number;
  /** Why it ended, on this page and network; null where it was still in force at the last load there. */
  end: string | null;
}

/** @param visits of the arm `loop`, in the order in which they were made, and of the browser alone */
export function judgeRuns(loop: ProductArm, visits: readonly LoopVisit[]): JudgedRun[] {
  const keyOf = ({ network, page, visit }: LoopVisit) => JSON.stringify([network, page, visit]);
  const off = new Map(visits.filter(({ arm }) => arm === 'off').map((each) => [keyOf(each), each.pltMs]));
  const judged = new Map<string, JudgedRun & { ratios: number[] }>();
  for (const own of groupBy(
    visits.filter(({ arm }) => arm === loop),
    ({ network }) => network,
  ).values()) {
    const last = Math.max(...own.map(({ visit }) => visit));
    for (const [index, visit] of own.entries()) {
      const before = own[index - 1];
      const network = networkAt(visit.network, visit.visit, last);
      for (const run of before?.runs ?? []) {
        const isInForce = run.end === null && (run.scope === 'network' || before!.page === visit.page);
        if (!isInForce) continue;
        const key = JSON.stringify([visit.network, network, visit.page, run.id]);
        const { trigger, kinds } = run;
        const entry = judged.get(key) ?? {
          ...{ network, page: visit.page, trigger, kinds },
          ...{ loads: 0, ratio: 1, end: null, ratios: [] },
        };
        judged.set(key, entry);
        entry.ratios.push(visit.pltMs / off.get(keyOf(visit))!);
        entry.end = visit.runs?.find(({ id }) => id === run.id)?.end ?? null;
      }
    }
  }
  return [...judged.values()].map(({ ratios, ...run }) => ({
    ...run,
    loads: ratios.length,
    ratio: Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length),
  }));
}

/** Pins of one effect. */
export interface RunSummary {
  runs: number;
  /** Loads of each, median and most. */
  loads: number;
  mostLoads: number;
  /** How many were still in force at the last load. */
  stayed: number;
}

/** What pins that are no trials did. @returns null for an effect that none had */
export function summariseRuns(runs: readonly JudgedRun[]): {
  slower: RunSummary | null;
  faster: RunSummary | null;
} {
  const lasting = runs.filter(({ trigger }) => trigger !== 'trial');
  const summarise = (own: readonly JudgedRun[]): RunSummary | null =>
    own.length === 0
      ? null
      : {
          runs: own.length,
          loads: median(own.map(({ loads }) => loads)),
          mostLoads: Math.max(...own.map(({ loads }) => loads)),
          stayed: own.filter(({ end }) => end === null).length,
        };
  return {
    slower: summarise(lasting.filter(({ ratio }) => ratio > SLOWER)),
    faster: summarise(lasting.filter(({ ratio }) => ratio < FASTER)),
  };
}
