import { beforeEach, expect, test, vi } from 'vitest';
import { findBudget } from '../../src/background/verification-budget.ts';
import { readSettings, type Settings, saveSettings } from '../../src/storage/settings.ts';
import { addBytes, readBytesToday } from '../../src/storage/verification-data.ts';
import '../support/own-database.ts';

beforeEach(() => {
  vi.useRealTimers();
});

const limit = async (limits: Partial<Settings>) => saveSettings({ ...(await readSettings()), ...limits });

test.each([
  ['no limit leaves it to the helper', {}, 7e6, null],
  ['one for each verification', { maxVerificationBytes: 5e6 as const }, 7e6, 5e6],
  // 10 − 7 = 3 MB.
  ['one for the day, of which a part is used', { maxDailyBytes: 10e6 as const }, 7e6, 3e6],
  ['the lesser of both', { maxVerificationBytes: 1e6 as const, maxDailyBytes: 10e6 as const }, 7e6, 1e6],
])('the budget: %s', async (_words, limits, spentBytes, budgetBytes) => {
  await limit(limits);
  await addBytes(spentBytes);
  expect(await findBudget()).toBe(budgetBytes);
});

test('nothing is verified after the day’s limit, until the next day', async () => {
  await limit({ maxDailyBytes: 10e6 });
  await addBytes(4e6);
  await addBytes(6e6);
  expect(await readBytesToday()).toBe(10e6);
  await expect(findBudget()).rejects.toThrow('Today’s limit of 10 MB for verifications is reached.');
  vi.useFakeTimers({ now: Date.now() + 24 * 3_600_000, toFake: ['Date'] });
  expect(await findBudget()).toBe(10e6);
});
