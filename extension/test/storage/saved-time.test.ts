import { DAY_MS } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { ownStorage } from '../../src/storage/own-storage.ts';
import {
  addSavedTime,
  addUncomparedLoad,
  readSavedTime,
  removeSavedTime,
} from '../../src/storage/saved-time.ts';
import '../support/own-database.ts';

const NOW_MS = Date.parse('2026-11-26T12:00:00Z');

const measured = (savedMs: number) => ({ savedMs, isEstimated: false });

test('sums the last seven days, losses included', async () => {
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0, estimated: 0, uncompared: 0 });
  await addSavedTime(measured(5000), NOW_MS - 7 * DAY_MS);
  await addUncomparedLoad(NOW_MS - 7 * DAY_MS);
  await addUncomparedLoad(NOW_MS - 6 * DAY_MS);
  await addSavedTime(measured(3000), NOW_MS - 6 * DAY_MS);
  await addSavedTime({ savedMs: 2000, isEstimated: true }, NOW_MS);
  await addSavedTime(measured(-500), NOW_MS);
  await addUncomparedLoad(NOW_MS);
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 4500, loads: 3, estimated: 1, uncompared: 2 });
  await removeSavedTime();
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0, estimated: 0, uncompared: 0 });
});

test('reads what an earlier version stored', async () => {
  await ownStorage.set({ 'saved-time': { '2026-11-26': { savedMs: 1000, loads: 2 } } });
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 1000, loads: 2, estimated: 0, uncompared: 0 });
});

test('what is not readable counts as nothing', async () => {
  await ownStorage.set({ 'saved-time': { yesterday: 7 } });
  expect(await readSavedTime(NOW_MS)).toEqual({ savedMs: 0, loads: 0, estimated: 0, uncompared: 0 });
});
