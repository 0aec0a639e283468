import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '@hopwise/lab/random';
import { expect, test } from 'vitest';
import { followSwitch } from '../../src/rollback/follow-switch.ts';
import { judgeChecker } from '../../src/rollback/judge-checker.ts';
import { readCellTimes } from '../../src/rollback/read-cells.ts';
import { generatedSwitches, measuredSwitches } from '../../src/rollback/switches.ts';

const steady = (times: Record<string, number>) =>
  measuredSwitches([
    { cell: 'page on net', times: new Map(Object.entries(times).map(([name, ms]) => [name, [ms, ms, ms]])) },
  ]);

test('a harmful switch costs what its loads took until it was rolled back', () => {
  const [toSlow, toFast] = steady({ h2: 1000, h3: 2000 });
  // Three loads of 1000 ms before: one load must take e^(√(0.08 / 4) × √(4 / 3) × 3.16) = 1.68 times as long.
  // One of 20 loads takes 2000 ms in place of 1000 ms: 1 / 20 more. Without the checker all do.
  expect(followSwitch(toSlow!, new SeededRandom(1))).toEqual({
    harmWithout: 1,
    harmWith: 21_000 / 20_000 - 1,
    rollback: { loads: 1, cause: 'slower' },
  });
  expect(followSwitch(toFast!, new SeededRandom(1))).toEqual({
    harmWithout: -0.5,
    harmWith: -0.5,
    rollback: null,
  });
});

test('figures are given for each class of effects, with the loads on the faster protocol', () => {
  const figures = judgeChecker(steady({ h2: 1000, h3: 2000 }), 4, 1);
  expect(figures.map(({ name, switches, onFaster }) => [name, switches, onFaster])).toEqual([
    ['faster by over 5%', 1, 1],
    // 19 of 20 loads are back on HTTP/2.
    ['slower by over 50%', 1, 0.95],
  ]);
});

test('generated switches of no effect are called slower in at most 6%, those that double load times are rolled back within 5 loads', () => {
  const figures = judgeChecker(generatedSwitches(200), 10, 3);
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
