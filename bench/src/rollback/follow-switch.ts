import { sum } from '@hopwise/contract';
import type { SeededRandom } from '@hopwise/lab/random';
import { judgeSwitch } from '@hopwise/model';
import type { Switch } from './switches.ts';

/** Loads after the first switch that are counted. */
export const LOADS_AFTER = 20;

/** Loads before a switch that the checker compares with. */
export interface Earlier {
  loads: number;
  /** How many times as long as usual the first of them takes, by chance. */
  firstFactor: number;
}

/** What a switch led to. Harm is the load time beyond that without the switch, as a share of it; negative for a gain. */
export interface Outcome {
  /** Means over the loads after the switch. */
  harmWithout: number;
  harmWith: number;
  /** Loads without the switch that the checker asked for to compare with. */
  compared: number;
  /** After how many loads and why the checker rolled the switch back; null when it did not. */
  rollback: { loads: number; cause: 'slower' | 'no-gain' } | null;
  /** Loads with the switch. */
  switched: number;
}

/** Loads a page with the checker and without it: the same loads while the switch is on. */
export function followSwitch(
  { drawBefore, drawAfter }: Switch,
  random: SeededRandom,
  earlier: Earlier,
): Outcome {
  const beforeMs = Array.from(
    { length: earlier.loads },
    (_, index) => drawBefore(random) * (index === 0 ? earlier.firstFactor : 1),
  );
  const afterMs = Array.from({ length: LOADS_AFTER }, () => drawAfter(random));
  /** What the same loads would have taken without the switch. */
  const stayingMs = Array.from({ length: LOADS_AFTER }, () => drawBefore(random));
  const { switches, compared, rollback } = checkLoads(beforeMs, afterMs, stayingMs);
  const checkedMs = switches.map((isOn, index) => (isOn ? afterMs : stayingMs)[index]!);
  const stayedMs = sum(stayingMs);
  return {
    harmWithout: sum(afterMs) / stayedMs - 1,
    harmWith: sum(checkedMs) / stayedMs - 1,
    compared,
    rollback,
    switched: switches.filter(Boolean).length,
  };
}

/** Which of the loads have the switch, as the checker decides after each. */
function checkLoads(
  earlierMs: readonly number[],
  afterMs: readonly number[],
  stayingMs: readonly number[],
): Pick<Outcome, 'compared' | 'rollback'> & { switches: boolean[] } {
  const beforeMs = [...earlierMs];
  const switches: boolean[] = [];
  let rollback: Outcome['rollback'] = null;
  let compared = 0;
  let checkedMs: number[] = [];
  let state: 'checking' | 'comparing' | 'kept' | 'left' = 'checking';
  for (const [index, ms] of afterMs.entries()) {
    switches.push(state === 'checking' || state === 'kept');
    if (state === 'comparing') {
      compared += 1;
      beforeMs.push(stayingMs[index]!);
      checkedMs = [];
      state = 'checking';
    } else if (state === 'checking') {
      checkedMs.push(ms);
      const verdict = judgeSwitch(beforeMs, checkedMs);
      // Another load to compare with would show no more.
      if (verdict === 'kept' || (verdict === 'unsure' && compared > 0)) state = 'kept';
      else if (verdict === 'unsure') state = 'comparing';
      else if (verdict !== null) {
        state = 'left';
        rollback = { loads: switches.filter(Boolean).length, cause: verdict };
      }
    }
  }
  return { switches, compared, rollback };
}
