import { expect, test } from 'vitest';
import { showGoals } from '../../src/product/goals-table.ts';
import { judgeGoals } from '../../src/product/judge-goals.ts';
import { visitsOf } from '../support/product-visits.ts';

const VISITS = [
  ...visitsOf('cable', 'a', { off: [1000, 1000], auto: [1100, 1100] }),
  ...visitsOf('cable', 'b', { off: [2000, 2000], auto: [2000, 2000] }),
  ...visitsOf('udp-policed', 'a', {
    off: [1000, 9000],
    auto: [1000, 3000],
    h2: [1000, 1000],
    h1: [4000, 4000],
  }),
  ...visitsOf('udp-policed', 'b', {
    off: [5000, 9000],
    auto: [1500, 1500],
    h2: [1000, 1000],
    h1: [900, 1000],
  }),
];

const goals = judgeGoals(VISITS);
const figureOf = (what: string) => {
  const [row] = goals.rows.filter((each) => each.what.startsWith(what));
  return row!.figures.get('auto') ?? null;
};

test('ratios are of all visits, of first ones, and of networks that leave UDP open', () => {
  // 1.1, 1.1, 1, 1, 1, 1/3, 0.3, 1/6.
  expect(figureOf('load time')?.estimate).toBeCloseTo((1.21 / 60) ** (1 / 8), 10);
  expect(figureOf('first visits')?.estimate).toBeCloseTo((1.1 * 0.3) ** (1 / 4), 10);
  expect(figureOf('where UDP is open')?.estimate).toBeCloseTo(Math.sqrt(1.1), 10);
  expect(figureOf('time spent waiting')?.estimate).toBeCloseTo(13_200 / 30_000, 10);
  expect(figureOf('processor time')?.estimate).toBeCloseTo(13_200 / 30_000, 10);
});

test('what is gained is a share of what the fastest protocol of each page gains', () => {
  // From 9 to 3 s, where HTTP/2 takes 1 s; from 5 and 9 to 1.5 s, where HTTP/1.1 takes 0.9 and 1 s.
  expect(figureOf('of what can be gained')?.estimate).toBeCloseTo(6 / 8, 10);
  expect(figureOf('the same')?.estimate).toBeCloseTo(11 / 12.1, 10);
  const without = judgeGoals(VISITS.filter(({ arm }) => arm === 'off' || arm === 'auto'));
  expect(
    without.rows.filter(({ unit }) => unit === 'share').map(({ figures }) => figures.get('auto')),
  ).toEqual([null, null]);
});

test('where the browser alone was measured twice, gains are those over the geometric mean of both', () => {
  const twice = judgeGoals(
    visitsOf('udp-policed', 'a', {
      off: [1000, 9000],
      'off-again': [1000, 4000],
      auto: [1000, 3000],
      h2: [1000, 1000],
    }),
  );
  const gained = twice.rows.find(({ what }) => what.startsWith('of what can be gained'))!.figures;
  // From 6 s and, for the browser alone again, from 9 s, where HTTP/2 takes 1 s.
  expect(gained.get('auto')?.estimate).toBeCloseTo(3 / 5, 10);
  expect(gained.get('off-again')?.estimate).toBeCloseTo(5 / 8, 10);
  expect(twice.rows[0]!.figures.get('auto')?.estimate).toBeCloseTo(Math.sqrt(1 / 2), 10);
});

test('intervals hold their estimates, and pages are counted that are surely slower', () => {
  const { low, estimate, high } = figureOf('load time')!;
  expect(low).toBeLessThan(estimate);
  expect(high).toBeGreaterThan(estimate);
  // Two visits to a page do not tell.
  expect(goals.harmed).toEqual(new Map([['auto', { pages: 0, of: 0 }]]));
  const { harmed } = judgeGoals([
    ...visitsOf('cable', 'a', { off: Array(5).fill(1000), auto: [1100, 1050, 1100, 1050, 1100] }),
    ...visitsOf('cable', 'b', { off: Array(5).fill(2000), auto: [2200, 1900, 2200, 1900, 2100] }),
    ...visitsOf('cable', 'c', { off: Array(4).fill(1000), auto: Array(4).fill(1500) }),
  ]);
  expect(harmed).toEqual(new Map([['auto', { pages: 1, of: 2 }]]));
});

test('the table has a column for each arm but the fixed protocols, and no figure where nothing was measured', () => {
  const text = showGoals(goals);
  expect(text).toMatch(/^all networks +auto +goal\n/);
  expect(text).toMatch(/first page, from its second visit on +75% +≥ 80%\n/);
  expect(text).toMatch(/surely slower by 2% where UDP is open +– +none\n/);
  const open = showGoals(judgeGoals(VISITS.filter(({ network }) => network === 'cable')));
  expect(open).toMatch(/first page, from its second visit on +– +≥ 80%\n/);
});
