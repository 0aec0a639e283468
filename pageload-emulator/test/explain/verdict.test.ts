import type { Action, Baseline } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { timeByItself } from '../../src/explain/verdict.ts';

const baseline = { pltMs: 4300, low: 3800, high: 4900, emulated: { pltMs: 4200 } } as Baseline;
const action = {
  time: { pltMs: 2300, low: 2000, high: 2700 },
  emulated: { pltMs: 2000 },
  gainMs: 2000,
} as Action;

it.each([
  ['the load just seen', 4400, 2300, 4400],
  ['the expected load where none was seen', null, 2300, 4300],
  ['the expected load after one that was faster than nine in ten', 3700, 2300, 4300],
  ['the expected load after one that was slower than nine in ten', 5000, 2300, 4300],
  ['the expected load after one that would make the gain larger than it is emulated', 4600, 2300, 4300],
  ['the expected load after one that was as fast as the action promises', 4000, 3900, 4300],
])('an action is compared with %s', (_words, seenMs, pltMs, expected) => {
  const promised = { ...action, time: { ...action.time, pltMs } };
  expect(timeByItself({ baseline, action: promised }, seenMs)).toBe(expected);
});
