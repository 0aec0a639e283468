import { expect, test } from 'vitest';
import { judgeSwitch } from '../../src/rollback/judge-switch.ts';

const five = (ms: number) => Array<number>(5).fill(ms);

test.each([
  // Three loads before, one after: √(0.08 / 4) × √(4 / 3) = 0.163, quantile of t with 4 degrees 3.16: slower from e^0.516 = 1.68 on.
  [[1700], 'slower'],
  [[1600], null],
  [[600, 600, 600, 600], null],
  // Five after, eight degrees, quantile 2.56: √(0.08 / 8) × √(1 / 3 + 1 / 5) = 0.073, surely faster up to e^-0.187 = 0.83.
  [five(820), 'kept'],
  [five(840), 'unsure'],
  [[900, 900, 1000, 1100, 1100], 'no-gain'],
])('after three loads of 1000 ms, %j ms: %s', (afterMs, verdict) => {
  expect(judgeSwitch([1000, 1000, 1000], afterMs)).toBe(verdict);
});

test.each([
  // A load alone may have taken three times as long as usual, and what is left of the gain has to be sure: e^-0.343 = 0.71 of a third.
  [[3000], five(720), 'unsure'],
  [[3000], five(700), 'kept'],
  [[1000], five(1010), 'no-gain'],
  // The faster one of two says whether there is a gain at all.
  [[3000, 1000], five(1300), 'no-gain'],
  [[3000, 1000], five(700), 'kept'],
  [[1000, 3000, 1000], five(1300), 'no-gain'],
  [[1000, 3000, 1000], five(800), 'kept'],
])('after loads of %j ms, %j ms: %s', (beforeMs, afterMs, verdict) => {
  expect(judgeSwitch(beforeMs, afterMs)).toBe(verdict);
});
