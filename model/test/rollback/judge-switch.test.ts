import { expect, test } from 'vitest';
import { judgeSwitch } from '../../src/rollback/judge-switch.ts';

test.each([
  // Three loads before, one after: √(0.08 / 4) × √(4 / 3) = 0.163, quantile of t with 4 degrees 3.16: slower from e^0.516 = 1.68 on.
  [[1700], 'slower'],
  [[1600], null],
  [[900, 900, 900, 900], null],
  [[900, 900, 900, 1100, 1100], 'kept'],
  [[900, 900, 1000, 1100, 1100], 'no-gain'],
])('after three loads of 1000 ms, %j ms: %s', (afterMs, verdict) => {
  expect(judgeSwitch([1000, 1000, 1000], afterMs)).toBe(verdict);
});
