/** Changes of protocol whose effect is known, drawn from load times. */
import { median } from '@hopwise/contract';
import type { SeededRandom } from '@hopwise/lab/random';

/** Load times on one page and network, in one way, milliseconds. */
export type Draw = (random: SeededRandom) => number;

/** A change from one way of loading a page to another. */
export interface Switch {
  /** Switches of one page on one network depend on each other: intervals draw them together. */
  cell: string;
  /** Median load time after it over that before it. */
  effect: number;
  drawBefore: Draw;
  drawAfter: Draw;
}

/** Load times of a page on a network by protocol, milliseconds. */
export interface CellTimes {
  cell: string;
  times: ReadonlyMap<string, readonly number[]>;
}

/** Switches from each protocol of a cell to each other one. Loads are drawn from the measured ones, with replacement. */
export function measuredSwitches(cells: readonly CellTimes[]): Switch[] {
  return cells.flatMap(({ cell, times }) =>
    [...times.values()].flatMap((before) =>
      [...times.values()]
        .filter((after) => after !== before)
        .map((after) => ({
          cell,
          effect: median(after) / median(before),
          drawBefore: (random: SeededRandom) => random.pick(before),
          drawAfter: (random: SeededRandom) => random.pick(after),
        })),
    ),
  );
}

/** Standard deviation of the logarithm of load times on one network, as measured in the lab (`docs/ground-truth.md`): 7 to 11%. */
const DEVIATION = 0.09;
/** Some loads take much longer: something else used the machine or the link. */
const DISTURBED_SHARE = 0.03;
const DISTURBED_FACTOR = 1.6;
/** Median load time after the switch over that before it. */
const EFFECTS = [0.8, 1, 1.1, 1.3, 2];

/** Draws equally many switches of each effect, with log-normal load times. */
export function generatedSwitches(perEffect: number): Switch[] {
  const draw =
    (medianMs: number): Draw =>
    (random) => {
      const factor = random.fraction() < DISTURBED_SHARE ? DISTURBED_FACTOR : 1;
      return medianMs * factor * Math.exp(DEVIATION * random.normal());
    };
  return EFFECTS.flatMap((effect) =>
    Array.from({ length: perEffect }, (_, index) => ({
      cell: `${effect} ${index}`,
      effect,
      drawBefore: draw(1000),
      drawAfter: draw(1000 * effect),
    })),
  );
}
