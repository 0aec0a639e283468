import { expect, test, vi } from 'vitest';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { readSettings, saveSettings } from '../../src/storage/settings.ts';
import '../support/own-database.ts';

test('are the defaults at first, and then what was saved', async () => {
  const settings = await readSettings();
  expect(settings).toMatchObject({ ageLimitHours: 168, excludedSites: [] });
  await saveSettings({ ...settings, excludedSites: ['page.test'] });
  expect(await readSettings()).toMatchObject({ ageLimitHours: 168, excludedSites: ['page.test'] });
});

test('with an invalid value keep the others, with a note', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  await ownStorage.set({
    settings: { ageLimitHours: 'soon', excludedSites: ['page.test'], checksNetworks: true },
  });
  expect(await readSettings()).toMatchObject({
    ageLimitHours: 168,
    excludedSites: ['page.test'],
    checksNetworks: true,
  });
  expect(warn.mock.calls).toEqual([
    ['hopwise: the setting ageLimitHours is invalid and has its default: 168'],
  ]);
});

test.each([
  ['a text', 'none'],
  ['null', null],
  ['a list', [1]],
])('that are %s are the defaults', async (_, settings) => {
  vi.spyOn(console, 'warn').mockReturnValue();
  await ownStorage.set({ settings });
  expect(await readSettings()).toMatchObject({ ageLimitHours: 168, keepsQueries: false });
});
