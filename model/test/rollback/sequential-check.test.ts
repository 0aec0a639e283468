import { expect, test } from 'vitest';
import { isSlower, MAX_CHECKED_LOADS } from '../../src/rollback/sequential-check.ts';

test.each([
  // One load before, one after: deviation 0.2 × √2 = 0.283, quantile of t with 2 degrees 5.05: slower from e^(0.283 × 5.05) = 4.18 on.
  [[1000], [4100], false],
  [[1000], [4300], true],
  // Two after: √(0.08 / 3) × √1.5 = 0.2, quantile with 3 degrees 3.68: from e^0.735 = 2.09 on.
  [[1000], [2050, 2050], false],
  [[1000], [2120, 2120], true],
  // Three before, five after: √(0.08 / 8) × √(8 / 15) = 0.073, quantile with 8 degrees 2.56: from e^0.187 = 1.21 on.
  [[1000, 1000, 1000], Array(5).fill(1190), false],
  [[1000, 1000, 1000], Array(5).fill(1230), true],
  // Loads that vary show less: ln 800, 1000, 1250 are 0.223 apart. √(0.18 / 4) × √(4 / 3) = 0.245 × 3.16: from e^0.773 = 2.17 on.
  [[800, 1000, 1250], [2100], false],
  [[800, 1000, 1250], [2250], true],
  [[4000], [2000], false],
])('%j ms before, %j ms after: slower is %s', (beforeMs, afterMs, slower) => {
  expect(isSlower(beforeMs, afterMs)).toBe(slower);
});

/** Share of changes without effect that are called slower in one of the looks. */
function falseAlarmShare(deviation: number, loadsBefore: number, random: () => number): number {
  const runs = 4000;
  const load = () => 1000 * Math.exp(deviation * drawNormal(random));
  let alarms = 0;
  for (let run = 0; run < runs; run++) {
    const beforeMs = Array.from({ length: loadsBefore }, load);
    const afterMs: number[] = [];
    while (afterMs.length < MAX_CHECKED_LOADS) {
      afterMs.push(load());
      if (!isSlower(beforeMs, afterMs)) continue;
      alarms += 1;
      break;
    }
  }
  return alarms / runs;
}

/** Box and Muller's method. */
const drawNormal = (random: () => number) =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** A linear congruential generator (Numerical Recipes). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each([
  [0.08, 0.05],
  [0.15, 0.05],
  [0.25, 0.05],
  [0.4, 0.08],
])('loads that vary by %f raise a false alarm in at most %f of cases', (deviation, limit) => {
  for (const loadsBefore of [1, 2, 3, 5]) {
    // Two standard errors of a share of 5% in 4,000 runs are 0.7%.
    expect(falseAlarmShare(deviation, loadsBefore, seeded(7)), `${loadsBefore} loads before`).toBeLessThan(
      limit + 0.007,
    );
  }
});
