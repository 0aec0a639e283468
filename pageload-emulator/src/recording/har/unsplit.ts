import { phaseLengths } from './phase-lengths.ts';
import type { Entry } from './schema.ts';
import { lengthOf, ROUNDING_MS } from './values.ts';

/** That this many entries all have one phase alone, or the same shares of phases, is no coincidence. */
const MIN_ALIKE = 6;
/** A shorter phase has any share, by its rounding. */
const MIN_TELLING_MS = 5 * ROUNDING_MS;

/**
 * Whether a recorder does not know phases: no entry has one of any length beside its time, all have the same one phase alone, or the same shares
 * of their time as phases. Requests wait for their responses, bodies take time, and how long differs from one to the other.
 */
export function isUnsplit(entries: readonly Entry[]): boolean {
  const took = entries.map(phaseLengths).filter((phases) => sumOf(phases) > 0);
  if (took.length === 0) return entries.some(({ time }) => lengthOf(time) > 0);
  return took.length >= MIN_ALIKE && (haveOne(took) || haveSameShares(took));
}

/** Whether all have either waiting or receiving alone. */
function haveOne(took: readonly number[][]): boolean {
  const isAlone = (phases: number[], place: number) => sumOf(phases) === phases.at(place);
  return [-2, -1].some((place) => took.every((phases) => isAlone(phases, place)));
}

/** Whether the phases of all are the same shares of their sums, which differ. */
function haveSameShares(took: readonly number[][]): boolean {
  const longest = took.reduce((a, b) => (sumOf(a) >= sumOf(b) ? a : b));
  const expected = (phases: number[]) => longest.map((ms) => (ms / sumOf(longest)) * sumOf(phases));
  const isTelling = (phases: number[]) => expected(phases).filter((ms) => ms >= MIN_TELLING_MS).length >= 2;
  const sums = new Set(took.filter(isTelling).map((phases) => Math.round(sumOf(phases))));
  if (sums.size < MIN_ALIKE) return false;
  return took.every((phases) =>
    expected(phases).every((ms, place) => Math.abs(ms - phases[place]!) <= ROUNDING_MS),
  );
}

const sumOf = (phases: readonly number[]): number => phases.reduce((sum, ms) => sum + ms, 0);
