import { expect, it } from 'vitest';
import { medianInterval } from '../src/median-interval.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it.each([
  // All values on one side of the median: 2 × 0.5^n.
  [1, 1, 1, 1, 1 - 2 / 2],
  [3, 2, 1, 3, 1 - 2 / 8],
  [5, 3, 1, 5, 1 - 2 / 32],
  [6, 3.5, 1, 6, 1 - 2 / 64],
  // One value less at each end leaves out 2 × (1 + 9) / 512 with 9 values, and with 8 too much: 2 × (1 + 8) / 256.
  [8, 4.5, 1, 8, 1 - 2 / 256],
  [9, 5, 2, 8, 1 - 20 / 512],
  // 2 × (1 + 20 + 190 + 1140 + 4845 + 15504) / 2^20 is 4.1%.
  [20, 10.5, 6, 15, 1 - 43_400 / 2 ** 20],
])('of %i values', (count, median, low, high, coverage) => {
  const found = medianInterval(upTo(count).toReversed());
  expect(found).toEqual({ median, low, high, coverage: expect.closeTo(coverage, 12) });
});

it('needs a value', () => {
  expect(() => medianInterval([])).toThrow('no values');
});
