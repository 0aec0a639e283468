import { expect, it } from 'vitest';
import { evaluate, type WeightedTime } from '../../src/explore/objective.ts';

const alike = (...times: number[]): WeightedTime[] => times.map((time) => ({ time, weight: 1 }));

it('interpolates quantiles between times, each in the middle of its weight', () => {
  expect(evaluate('median', alike(300))).toBe(300);
  expect(evaluate('median', alike(300, 100, 200))).toBe(200);
  // Weights end at 1 and 2, so that the times stand at 0.5 and 1.5 and half of 2 is in between.
  expect(evaluate('median', alike(100, 200))).toBe(150);
  // Five times stand at 0.5 to 4.5; 80% of 5 is 4, half-way from 3.5 to 4.5.
  expect(evaluate('p80', alike(1, 2, 3, 4, 5))).toBe(4.5);
  // 90% of 5 is 4.5.
  expect(evaluate('p90', alike(1, 2, 3, 4, 5))).toBe(5);
});

it('counts times by their weights', () => {
  const times = [
    { time: 100, weight: 3 },
    { time: 500, weight: 1 },
  ];
  expect(evaluate('mean', times)).toBe(200);
  // 100 stands at 1.5, 500 at 3.5; half of 4 is 2, a quarter of the way.
  expect(evaluate('median', times)).toBe(200);
  expect(evaluate('median', [...times, { time: 9, weight: 0 }])).toBe(200);
});
