import type { SeededRandom } from '@hopwise/lab/random';
import { judgeSwitch, MAX_CHECKED_LOADS } from '@hopwise/model';
import type { Switch } from './switches.ts';

/** Loads before a switch that the checker compares with. */
const LOADS_BEFORE = 3;
/** Loads after a switch that are counted. */
export const LOADS_AFTER = 20;

/** What a switch led to. Harm is the load time beyond that without the switch, as a share of it; negative for a gain. */
export interface Outcome {
  /** Means over the loads after the switch. */
  harmWithout: number;
  harmWith: number;
  /** When and why the checker rolled the switch back; null when it did not. */
  rollback: { loads: number; cause: 'slower' | 'no-gain' } | null;
}

/** Loads a page with the checker and without it: the same loads until the checker rolls the switch back. */
export function followSwitch({ drawBefore, drawAfter }: Switch, random: SeededRandom): Outcome {
  const beforeMs = Array.from({ length: LOADS_BEFORE }, () => drawBefore(random));
  const afterMs = Array.from({ length: LOADS_AFTER }, () => drawAfter(random));
  /** What the same loads would have taken without the switch. */
  const stayingMs = Array.from({ length: LOADS_AFTER }, () => drawBefore(random));
  const rollback = findRollback(beforeMs, afterMs.slice(0, MAX_CHECKED_LOADS));
  const switched = rollback?.loads ?? LOADS_AFTER;
  const checkedMs = [...afterMs.slice(0, switched), ...stayingMs.slice(switched)];
  const stayedMs = sum(stayingMs);
  return {
    harmWithout: sum(afterMs) / stayedMs - 1,
    harmWith: sum(checkedMs) / stayedMs - 1,
    rollback,
  };
}

function findRollback(beforeMs: readonly number[], afterMs: readonly number[]): Outcome['rollback'] {
  for (let loads = 1; loads <= afterMs.length; loads++) {
    const cause = judgeSwitch(beforeMs, afterMs.slice(0, loads));
    if (cause === 'slower' || cause === 'no-gain') return { loads, cause };
  }
  return null;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
