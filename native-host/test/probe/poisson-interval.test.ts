import { expect, it } from 'vitest';
import { poissonInterval } from '../../src/probe/poisson-interval.ts';

it.each([
  // χ²(0.1, 2n) / 2 and χ²(0.9, 2n + 2) / 2; for n = 0 the latter is the exponential distribution's −ln 0.1.
  [0, 0, Math.LN10],
  [1, 0.105, 3.89],
  [5, 2.433, 9.275],
  [20, 14.525, 27.045],
])('of %d events: %d to %d', (events, low, high) => {
  const interval = poissonInterval(events);
  expect(Math.abs(interval[0] - low)).toBeLessThan(0.03);
  expect(Math.abs(interval[1] - high)).toBeLessThan(0.03);
});
