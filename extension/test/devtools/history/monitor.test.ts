import { MINUTE_MS, type Verification } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  findFastest,
  Monitor,
  type MonitoredTimes,
  summarise,
} from '../../../src/devtools/history/monitor.ts';
import { verificationOf } from '../../support/verification.ts';

const SETTINGS = { everyMs: 5 * MINUTE_MS, forMs: 30 * MINUTE_MS };

let verified: number;
let changes: number;
/** What one verification does. */
let answer: (signal: AbortSignal) => Promise<Verification>;
let monitor: Monitor;

beforeEach(() => {
  vi.useFakeTimers();
  verified = 0;
  changes = 0;
  answer = async () => verificationWith({ h1: 3000, h2: 2000, h3: 1000 });
  monitor = new Monitor(
    (signal) => {
      verified += 1;
      return answer(signal);
    },
    () => {
      changes += 1;
    },
  );
});

afterEach(() => {
  vi.useRealTimers();
});

function verificationWith(medians: Record<string, number | null>): Verification {
  const protocols = Object.fromEntries(
    Object.entries(medians).map(([protocol, medianMs]) => [
      protocol,
      {
        unavailable: '',
        rounds: [],
        medianMs,
        lowMs: null,
        highMs: null,
        provedRequests: 1,
        answeredRequests: 1,
      },
    ]),
  );
  return verificationOf({ protocols });
}

const timesOf = (medianMs: MonitoredTimes['medianMs'], atMs = 0): MonitoredTimes => ({
  atMs,
  medianMs,
  problem: '',
});

test('verifies at once, then every five minutes for half an hour, and ends', async () => {
  const startedAtMs = Date.now();
  const ended = monitor.start(SETTINGS);
  await vi.advanceTimersByTimeAsync(0);
  expect([verified, monitor.planned, monitor.nextAtMs]).toEqual([1, 7, startedAtMs + 5 * MINUTE_MS]);
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
  expect(verified).toBe(2);
  await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
  await ended;
  expect([verified, monitor.isRunning, monitor.nextAtMs]).toEqual([7, false, null]);
  expect(monitor.times.map(({ atMs }) => (atMs - startedAtMs) / MINUTE_MS)).toEqual([
    0, 5, 10, 15, 20, 25, 30,
  ]);
  expect(monitor.times[0]?.medianMs).toEqual({ h1: 3000, h2: 2000, h3: 1000 });
});

test('a verification that fails has its reason, and the next ones go on', async () => {
  answer = async () => {
    if (verified === 1) throw new Error('The helper is not installed.');
    return verificationWith({ h2: 2000, h3: null });
  };
  void monitor.start(SETTINGS);
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
  expect(monitor.times).toMatchObject([
    { problem: 'The helper is not installed.', medianMs: {} },
    { problem: '', medianMs: { h2: 2000 } },
  ]);
});

test('stopping ends the running verification, which does not count, and it can be started anew', async () => {
  let wasStopped = false;
  answer = (signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        wasStopped = true;
        reject(new Error('cancelled'));
      });
    });
  const ended = monitor.start(SETTINGS);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  void monitor.start(SETTINGS);
  monitor.stop();
  await ended;
  expect([wasStopped, verified, monitor.times.length, monitor.isRunning]).toEqual([true, 1, 0, false]);
  answer = async () => verificationWith({ h2: 1 });
  const again = monitor.start(SETTINGS);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  monitor.stop();
  await again;
  expect(monitor.times).toHaveLength(1);
});

test('a verification that takes longer than the period is followed by the next one at once', async () => {
  answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 7 * MINUTE_MS));
    return verificationWith({ h2: 1 });
  };
  void monitor.start(SETTINGS);
  await vi.advanceTimersByTimeAsync(7 * MINUTE_MS + 1);
  expect(verified).toBe(2);
  expect(changes).toBeGreaterThan(1);
});

test('a protocol is the fastest where it leads by more than 5%', () => {
  expect(findFastest(timesOf({ h1: 3000, h2: 1060, h3: 1000 }))).toBe('h3');
  expect(findFastest(timesOf({ h1: 3000, h2: 1050, h3: 1000 }))).toBeNull();
  expect(findFastest(timesOf({ h2: 1000 }))).toBeNull();
});

test('sums up how often each protocol was the fastest, and when that last changed', () => {
  const h2 = { h2: 1000, h3: 2000 };
  const h3 = { h2: 2000, h3: 1000 };
  const failed = { atMs: 2, medianMs: {}, problem: 'none' };
  const times = [timesOf(h2, 1), failed, timesOf(h3, 3), timesOf({ h2: 1, h3: 1 }, 4), timesOf(h3, 5)];
  expect(summarise(times)).toEqual({
    verified: 4,
    fastest: [
      { protocol: 'h3', times: 2 },
      { protocol: 'h2', times: 1 },
    ],
    changedAtMs: 3,
  });
  expect(summarise([failed])).toEqual({ verified: 0, fastest: [], changedAtMs: null });
});
