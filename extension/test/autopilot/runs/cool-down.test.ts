import { HOUR_MS } from '@hopwise/contract';
import { expect, test } from 'vitest';
import type { AutopilotRun, EndCause } from '../../../src/autopilot/runs/autopilot-run.ts';
import { isCoolingDown } from '../../../src/autopilot/runs/cool-down.ts';

const PINS = [{ origin: 'https://page.test', kind: 'avoid-h3' as const }];

/** Runs with the same pins that ended at these hours. */
const endedAt = (...ends: [hour: number, cause: EndCause][]) =>
  ends.map(
    ([hour, cause]) => ({ pins: PINS, end: { atMs: hour * HOUR_MS, cause, reason: '' } }) as AutopilotRun,
  );

test.each([
  ['after an hour for trouble', endedAt([0, 'trouble']), 1],
  ['after 6 hours for a page that got slower', endedAt([0, 'slower']), 6],
  ['after 12 hours the second time', endedAt([0, 'slower'], [6, 'no-gain']), 6 + 12],
  ['after 24 hours the third time', endedAt([0, 'slower'], [6, 'slower'], [18, 'slower']), 18 + 24],
])('pins may be made again %s', (_words, runs, hour) => {
  expect(isCoolingDown(PINS, runs, hour * HOUR_MS - 1, null)).toBe(true);
  expect(isCoolingDown(PINS, runs, hour * HOUR_MS, null)).toBe(false);
});

test('pins whose run ended in a future, before the clock was set back, may be made again', () => {
  expect(isCoolingDown(PINS, endedAt([24 * 365, 'slower']), 0, null)).toBe(false);
});

test('pins that the user removed are not made again, others are', () => {
  const runs = endedAt([0, 'you']);
  expect(isCoolingDown(PINS, runs, 1e6 * HOUR_MS, null)).toBe(true);
  expect(isCoolingDown([{ origin: 'https://other.test', kind: 'avoid-h3' }], runs, 0, null)).toBe(false);
  expect(isCoolingDown(PINS, endedAt([0, 'tried']), 0, null)).toBe(false);
});

test('what a network did to pins holds for that network, what the user removed holds everywhere', () => {
  const runs = endedAt([0, 'trouble']).map((run) => ({ ...run, networkKey: 'office' }));
  expect(['office', 'home', null].map((key) => isCoolingDown(PINS, runs, 0, key))).toEqual([
    true,
    false,
    false,
  ]);
  const removed = endedAt([0, 'you']).map((run) => ({ ...run, networkKey: 'office' }));
  expect(isCoolingDown(PINS, removed, 0, 'home')).toBe(true);
});
