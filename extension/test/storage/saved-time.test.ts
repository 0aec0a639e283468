import { beforeEach, expect, test, vi } from 'vitest';
import { addSavedTime, readSavedTime, removeSavedTime } from '../../src/storage/saved-time.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';

const DAY_MS = 24 * 3_600_000;
const NOW_MS = Date.parse('2026-11-26T12:00:00Z');

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { local: new StubbedStorage() } });
});

test('sums the last seven days, losses included', async () => {
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0 });
  await addSavedTime(5000, NOW_MS - 7 * DAY_MS);
  await addSavedTime(3000, NOW_MS - 6 * DAY_MS);
  await addSavedTime(2000, NOW_MS);
  await addSavedTime(-500, NOW_MS);
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 4500, loads: 3 });
  await removeSavedTime();
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0 });
});

test('what is not readable counts as nothing', async () => {
  await chrome.storage.local.set({ 'saved-time': { yesterday: 7 } });
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0 });
});
