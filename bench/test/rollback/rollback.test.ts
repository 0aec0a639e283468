import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '@hopwise/lab/random';
import { expect, test } from 'vitest';
import { followSwitch } from '../../src/rollback/follow-switch.ts';
import { judgeChecker } from '../../src/rollback/judge-checker.ts';
import { readCellTimes } from '../../src/rollback/read-cells.ts';
import { generatedSwitches, measuredSwitches } from '../../src/rollback/switches.ts';

const EARLIER = { loads: 3, firstFactor: 1 };

const steady = (times: Record<string, number>) =>
  measuredSwitches([
    { cell: 'page on net', times: new Map(Object.entries(times).map(([name, ms]) => [name, [ms, ms, ms]])) },
  ]);

test('a harmful switch costs what its loads took until it was rolled back', () => {
  const [toSlow, toFast] = steady({ h2: 1000, h3: 2000 });
  // Three loads of 1000 ms before: one load must take e^(√(0.08 / 4) × √(4 / 3) × 3.16) = 1.68 times as long.
  // One of 20 loads takes 2000 ms in place of 1000 ms: 1 / 20 more. Without the checker all do.
  expect(followSwitch(toSlow!, new SeededRandom(1), EARLIER)).toEqual({
    harmWithout: 1,
    harmWith: 21_000 / 20_000 - 1,
    compared: 0,
    switched: 1,
    rollback: { loads: 1, cause: 'slower' },
  });
  expect(followSwitch(toFast!, new SeededRandom(1), EARLIER)).toEqual({
    harmWithout: -0.5,
    harmWith: -0.5,
    compared: 0,
    switched: 20,
    rollback: null,
  });
});

test('a load without the switch tells its gain from a slow earlier load', () => {
  const [toSlow, toFast] = steady({ h2: 1000, h3: 2000 });
  const slow = { loads: 1, firstFactor: 3 };
  // The only earlier load took 3000 ms: after five of 2000 ms and one of 1000 ms, the faster of the two says that there is no gain.
  expect(followSwitch(toSlow!, new SeededRandom(1), slow)).toMatchObject({
    compared: 1,
    switched: 10,
    rollback: { loads: 10, cause: 'no-gain' },
  });
  // It took 6000 ms, a third of which is 2000 ms: twice as long as the next five is surely longer.
  expect(followSwitch(toFast!, new SeededRandom(1), slow)).toMatchObject({ compared: 0, switched: 20 });
});

test('figures are given for each class of effects, with the loads on the faster protocol', () => {
  const figures = judgeChecker(steady({ h2: 1000, h3: 2000 }), 4, 1, EARLIER);
  expect(figures.map(({ name, switches, onFaster }) => [name, switches, onFaster])).toEqual([
    ['faster by over 5%', 1, 1],
    // 19 of 20 loads are back on HTTP/2.
    ['slower by over 50%', 1, 0.95],
  ]);
});

test('generated switches of no effect are called slower in at most 6%, those that double load times are rolled back within 5 loads', () => {
  const figures = judgeChecker(generatedSwitches(200), 10, 3, EARLIER);
  const classOf = (name: string) => figures.find((each) => each.name === name)!;
  // The test's level is 5%; two standard errors of it in 2,000 runs are 1%.
  expect(classOf('the same within 5%').slower.estimate).toBeLessThan(0.06);
  expect(classOf('slower by over 50%').slower.estimate).toBeGreaterThan(0.99);
  expect(classOf('slower by over 50%').untilRollback!.high).toBeLessThanOrEqual(5);
});

test('a folder without loads is refused in one line', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-rollback-'));
  await expect(readCellTimes(dir)).rejects.toThrow(`${dir}: expected a folder of measured loads`);
  await rm(dir, { recursive: true });
});
