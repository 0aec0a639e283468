import { SeededRandom } from '@hopwise/lab/random';
import {
  bootstrapInterval,
  type ConfidenceInterval,
  drawn,
  type Spread,
  spread,
} from '@hopwise/lab/statistics';
import { type Earlier, followSwitch, LOADS_AFTER, type Outcome } from './follow-switch.ts';
import type { Switch } from './switches.ts';

const SAME = 'the same within 5%';

/** Classes of switches by the median load time after them over that before them, up to `below`. */
export const CLASSES = [
  { name: 'faster by over 5%', below: 0.95 },
  { name: SAME, below: 1.05 },
  { name: 'slower by 5 to 20%', below: 1.2 },
  { name: 'slower by 20 to 50%', below: 1.5 },
  { name: 'slower by over 50%', below: Infinity },
] as const;

/** Figures of the switches of one class. */
export interface ClassFigures {
  name: string;
  switches: number;
  /** Means over loads, with 95% intervals over pages and networks; see `Outcome`. */
  harmWithout: ConfidenceInterval;
  harmWith: ConfidenceInterval;
  /** Shares of switches that the checker rolled back, by cause: false alarms where they do no harm. */
  slower: ConfidenceInterval;
  noGain: ConfidenceInterval;
  /** Loads without the switch that it asked for to compare with, a switch. */
  compared: number;
  /** Loads with the switch until then; null where none was rolled back. */
  untilRollback: Spread | null;
  /** Share of the loads after the switch that used what is faster in the median, with the checker. Without it: none or all. Null where both are about the same. */
  onFaster: number | null;
}

/**
 * Follows each switch so many times.
 *
 * @returns figures of the classes that have switches
 */
export function judgeChecker(
  switches: readonly Switch[],
  repeats: number,
  seed: number,
  earlier: Earlier,
): ClassFigures[] {
  const random = new SeededRandom(seed);
  return CLASSES.flatMap(({ name, below }, index) => {
    const from = CLASSES[index - 1]?.below ?? 0;
    const own = switches.filter(({ effect }) => effect >= from && effect < below);
    if (own.length === 0) return [];
    const byCell = new Map<string, Outcome[]>();
    let fasterLoads = 0;
    for (const each of own) {
      const outcomes = byCell.get(each.cell) ?? [];
      byCell.set(each.cell, outcomes);
      for (let repeat = 0; repeat < repeats; repeat++) {
        const outcome = followSwitch(each, random, earlier);
        outcomes.push(outcome);
        fasterLoads += each.effect < 1 ? outcome.switched : LOADS_AFTER - outcome.switched;
      }
    }
    const cells = [...byCell.values()];
    const outcomes = cells.flat();
    const until = outcomes.flatMap(({ rollback }) => rollback?.loads ?? []);
    return {
      name,
      switches: own.length,
      harmWithout: meanOver(cells, ({ harmWithout }) => harmWithout),
      harmWith: meanOver(cells, ({ harmWith }) => harmWith),
      slower: meanOver(cells, ({ rollback }) => (rollback?.cause === 'slower' ? 1 : 0)),
      noGain: meanOver(cells, ({ rollback }) => (rollback?.cause === 'no-gain' ? 1 : 0)),
      compared: outcomes.reduce((total, { compared }) => total + compared, 0) / outcomes.length,
      untilRollback: until.length === 0 ? null : spread(until),
      onFaster: name === SAME ? null : fasterLoads / (outcomes.length * LOADS_AFTER),
    };
  });
}

/** Mean over the outcomes of all cells, with a 95% interval over cells. */
function meanOver(
  cells: readonly (readonly Outcome[])[],
  figureOf: (outcome: Outcome) => number,
): ConfidenceInterval {
  const sums = cells.map((outcomes) => ({
    sum: outcomes.reduce((total, outcome) => total + figureOf(outcome), 0),
    count: outcomes.length,
  }));
  const meanOf = (some: typeof sums) =>
    some.reduce((total, { sum }) => total + sum, 0) / some.reduce((total, { count }) => total + count, 0);
  return bootstrapInterval(meanOf(sums), (random) => meanOf(drawn(sums, random)))!;
}
