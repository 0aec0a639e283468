/** Compares protocols assigned by origin with the best single protocol. */

import { median } from '@hopwise/contract';
import { groundTruthOf } from '@hopwise/lab/judge/cell-ground-truth';
import { bootstrapMedianRatio, type ConfidenceInterval } from '@hopwise/lab/statistics';
import type { Assignment } from '@hopwise/pageload-emulator';
import type { Cell } from './cells.ts';

export interface AssignedScore {
  page: string;
  network: string;
  assignment: Assignment;
  /** Seeds under which both have loads. */
  seeds: number;
  /** Median load time over that of the best single protocol, over those seeds, with a 95% interval from resampled seeds. */
  measuredRatio: ConfidenceInterval;
  /** That ratio as emulated by hopwise given the network; median over the recorded loads. */
  predictedRatio: number;
}

export interface Assigned {
  scores: AssignedScore[];
  /** Assignments that could not be judged, by reason. */
  leftOut: {
    /** All origins have the same protocol: nothing to compare. */
    uniform: number;
    /** The page does not load under it in most loads. */
    notLoading: number;
    /** No seed under which both have loads. */
    unpaired: number;
  };
}

/** Judges every measured assignment. @param predict emulated ratio of an assignment */
export async function scoreAssigned(
  cells: readonly Cell[],
  predict: (cell: Cell, assignment: Assignment) => Promise<number>,
): Promise<Assigned> {
  const leftOut: Assigned['leftOut'] = { uniform: 0, notLoading: 0, unpaired: 0 };
  const scores: AssignedScore[] = [];
  for (const cell of cells) {
    for (const { assignment, pltMs } of cell.loads.assigned) {
      const measured = isUniform(assignment) ? 'uniform' : measuredRatio(cell, pltMs);
      if (typeof measured === 'string') {
        leftOut[measured]++;
        continue;
      }
      scores.push({
        page: cell.page,
        network: cell.network,
        assignment,
        ...measured,
        predictedRatio: await predict(cell, assignment),
      });
    }
  }
  return { scores, leftOut };
}

/** Number of measured assignments for which `scoreAssigned` requests a prediction. */
export function judgedAssignments(cell: Cell): number {
  return cell.loads.assigned.filter(
    ({ assignment, pltMs }) => !isUniform(assignment) && typeof measuredRatio(cell, pltMs) !== 'string',
  ).length;
}

const isUniform = (assignment: Assignment): boolean => new Set(Object.values(assignment)).size < 2;

function measuredRatio(
  { loads }: Cell,
  assigned: ReadonlyMap<number, number>,
): { seeds: number; measuredRatio: ConfidenceInterval } | 'notLoading' | 'unpaired' {
  const best = groundTruthOf(loads)?.best;
  const uniform = best && loads.pltMs.get(best);
  const pairs = [...assigned].flatMap(([seed, time]): [number, number][] => {
    const other = uniform?.get(seed);
    return other === undefined || !Number.isFinite(other) ? [] : [[time, other]];
  });
  if (pairs.length === 0) return 'unpaired';
  const times = pairs.map(([time]) => time);
  if (!Number.isFinite(median(times))) return 'notLoading';
  return {
    seeds: pairs.length,
    measuredRatio: bootstrapMedianRatio(
      times,
      pairs.map(([, other]) => other),
    ),
  };
}
