import type { AdviceKind } from './improvements.ts';
import { MEASURED_GAINS, type MeasuredGain } from './measured-gains.ts';

/** A smaller gain is not worth a change: it is well below the emulator's error. Assumed. */
export const MIN_GAIN = 0.02;

/** A share of the load time. */
const TOLERANCE = 0.05;

/** Whether an advice gained anything, and what was promised, give or take 5 points. */
export const keepsPromise = (promised: number, gained: number): boolean =>
  gained > 0 && Math.abs(gained - promised) <= TOLERANCE;

/** On how many pages and networks of the lab an advice was given, and on how many of them its promise was kept. */
export interface Proof {
  kept: number;
  cells: number;
}

/** The proof by some measured gains. Where too little was promised for the advice to be given, its gain proves nothing. */
export function proofOf(kind: AdviceKind, measured: readonly MeasuredGain[] = MEASURED_GAINS): Proof {
  const given = measured.filter(([each, , , promised]) => each === kind && promised >= MIN_GAIN);
  const kept = given.filter(([, , , promised, gained]) => keepsPromise(promised, gained));
  return { kept: kept.length, cells: given.length };
}

/** One cell may keep its promise by chance. */
const MIN_CELLS = 2;

/** Whether a promise was kept in most cells, of two at least. */
export const isEnough = ({ kept, cells }: Proof): boolean => cells >= MIN_CELLS && 2 * kept > cells;

/** Whether the lab confirmed an advice. */
export const isProven = (kind: AdviceKind): boolean => isEnough(proofOf(kind));
