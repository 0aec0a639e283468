import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOf, repeat } from '../src/repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** When each run begins, milliseconds after the first. */
async function runsOf(durationMs: number, stopMs = Number.POSITIVE_INFINITY): Promise<number[]> {
  const startMs = Date.now();
  const runs: number[] = [];
  const run = async (): Promise<boolean> => {
    runs.push(Date.now() - startMs);
    await sleep(durationMs);
    return true;
  };
  const wait = async (untilMs: number): Promise<boolean> => {
    await sleep(Math.min(untilMs, startMs + stopMs) - Date.now());
    return untilMs < startMs + stopMs;
  };
  const ended = repeat(run, wait, { everyMs: 60_000, forMs: 150_000 });
  await vi.runAllTimersAsync();
  await ended;
  return runs;
}

test('a run begins each period until the time is over', async () => {
  expect(countOf({ everyMs: 60_000, forMs: 150_000 })).toBe(3);
  expect(await runsOf(1_000)).toEqual([0, 60_000, 120_000]);
});

test('a run that took longer than the period is followed by the next one at once', async () => {
  expect(await runsOf(70_000)).toEqual([0, 70_000, 140_000]);
});

test('stopped while it waits or in a run, it ends', async () => {
  expect(await runsOf(1_000, 90_000)).toEqual([0, 60_000]);
  const run = vi.fn(() => Promise.resolve(false));
  await repeat(run, () => Promise.resolve(true), { everyMs: 1, forMs: 10 });
  expect(run).toHaveBeenCalledOnce();
});

test('a failure of a run ends it', async () => {
  const fail = () => Promise.reject(new Error('no network'));
  const wait = () => Promise.resolve(true);
  await expect(repeat(fail, wait, { everyMs: 1, forMs: 10 })).rejects.toThrow('no network');
});
