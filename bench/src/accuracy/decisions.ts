/** What hopwise would do about a page, judged by measured loads. */

import { median } from '@hopwise/contract';
import { type CellGroundTruth, CLEAR_LEAD } from '@hopwise/lab/judge/cell-ground-truth';
import type { Decision, LoadTime, Protocol } from '@hopwise/pageload-emulator';

/** A protocol chosen with at least this confidence is called decided. */
const DECIDED = 0.8;

/** One decision against the measured medians of its cell. */
export interface DecisionScore {
  kind: Decision['kind'];
  best: Protocol;
  /** Whether the decision is sure of its best protocol. */
  decided: boolean;
  /** Whether the fastest protocol leads by more than 5%. */
  clear: boolean;
  /** Whether `best` is the fastest, or within 5% of it. */
  right: boolean;
  /**
   * Measured time under the recommended action over that by the browser itself, less 1; null where nothing is changed, or
   * the action is not one protocol for every origin, which alone were measured.
   */
  change: number | null;
  /** Predicted over measured baseline, less 1; null without natural loads. */
  baselineError: number | null;
  /** Loads of the browser itself and under each protocol, the recorded one left out, and whether each is in its range. */
  held: { natural: boolean[]; protocols: boolean[] };
}

/** Measured loads of a cell that a decision is compared with. */
export interface JudgingLoads {
  /** Median of the browser's own loads, milliseconds; null without any. */
  naturalMs: number | null;
  /** Load times other than the recorded one, milliseconds. */
  others: Partial<Record<Protocol | 'natural', readonly number[]>>;
}

export function scoreDecision(
  { kind, best, confidence, action, baseline, protocols }: Decision,
  { medians, best: fastest, clear }: CellGroundTruth,
  { naturalMs, others }: JudgingLoads,
): DecisionScore {
  const heldBy = ({ low, high }: LoadTime, pltMs: readonly number[] = []) =>
    pltMs.map((each) => low <= each && each <= high);
  const fastestMs = medians[fastest]!;
  const held = new Set(Object.values(action.assignment));
  const [only] = held;
  const afterMs = action.kind !== 'leave' && held.size === 1 ? medians[only!] : undefined;
  return {
    kind,
    best,
    decided: confidence >= DECIDED,
    clear,
    right: (medians[best] ?? Number.POSITIVE_INFINITY) <= (1 + CLEAR_LEAD) * fastestMs,
    change: afterMs === undefined || naturalMs === null ? null : afterMs / naturalMs - 1,
    baselineError: naturalMs === null ? null : baseline.pltMs / naturalMs - 1,
    held: {
      natural: heldBy(baseline, others.natural),
      protocols: Object.entries(protocols).flatMap(([protocol, time]) =>
        heldBy(time, others[protocol as Protocol]),
      ),
    },
  };
}

/** Decisions of many cells. Shares are fractions; null without any. */
export interface DecisionAccuracy {
  decisions: number;
  /** Shares of kinds. */
  acted: number;
  unsure: number;
  /** Cells whose fastest protocol leads by more than 5%: the share that is decided, and of these the share that is right. */
  decidedOfClear: number | null;
  rightOfDecided: number | null;
  /** Actions that were measured: the share that takes over 5% longer than the browser itself, and the median change. */
  harmed: number | null;
  medianChange: number | null;
  /** Share of cells whose recorded loads do not all give the same answer; null without cells of several loads. */
  flips: number | null;
  /** Median of |predicted / measured − 1| of the browser's own behaviour. */
  baselineError: number | null;
  /** Shares of loads within their 80% ranges: of the browser itself, and under the protocols. */
  naturalHeld: number | null;
  protocolsHeld: number | null;
}

/** @param cells the decisions of each cell, one for each of its recorded loads */
export function decisionFigures(cells: readonly (readonly DecisionScore[])[]): DecisionAccuracy {
  const all = cells.flat();
  const share = (some: readonly unknown[], of: readonly unknown[]) =>
    of.length === 0 ? null : some.length / of.length;
  const heldShare = (of: (held: DecisionScore['held']) => readonly boolean[]) => {
    const loads = all.flatMap(({ held }) => of(held));
    return share(loads.filter(Boolean), loads);
  };
  const clear = all.filter((each) => each.clear);
  const decided = clear.filter((each) => each.decided);
  const changes = all.flatMap(({ change }) => change ?? []);
  const repeated = cells.filter(({ length }) => length > 1);
  const flipped = repeated.filter((own) => new Set(own.map(({ kind, best }) => `${kind} ${best}`)).size > 1);
  const errors = all.flatMap(({ baselineError }) => (baselineError === null ? [] : Math.abs(baselineError)));
  return {
    decisions: all.length,
    acted:
      share(
        all.filter(({ kind }) => kind === 'act'),
        all,
      ) ?? 0,
    unsure:
      share(
        all.filter(({ kind }) => kind === 'unsure'),
        all,
      ) ?? 0,
    decidedOfClear: share(decided, clear),
    rightOfDecided: share(
      decided.filter(({ right }) => right),
      decided,
    ),
    harmed: share(
      changes.filter((change) => change > CLEAR_LEAD),
      changes,
    ),
    medianChange: changes.length === 0 ? null : median(changes),
    flips: share(flipped, repeated),
    baselineError: errors.length === 0 ? null : median(errors),
    naturalHeld: heldShare(({ natural }) => natural),
    protocolsHeld: heldShare(({ protocols }) => protocols),
  };
}
