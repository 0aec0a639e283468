import { HOUR_MS } from '@hopwise/contract';
import { Explorer } from '@hopwise/model';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  forgetExperience,
  listExperiences,
  readExperience,
  removeExpiredExperiences,
  saveExperience,
} from '../../../src/autopilot/learning/explorer-store.ts';
import { ownStorage } from '../../../src/storage/own-storage.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

/** Returns the keys of stored objects in alphabetical order, as Chromium does. */
class SortingStorage extends StubbedStorage {
  override async get(key: string | null = null): Promise<Record<string, unknown>> {
    return sortKeys(await super.get(key)) as Record<string, unknown>;
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, each]) => [key, sortKeys(each)]));
}

const HOME = 'h'.repeat(22);
const TRAIN = 't'.repeat(22);

let session: SortingStorage;

beforeEach(() => {
  session = new SortingStorage();
  vi.stubGlobal('chrome', { storage: { session } });
});

afterEach(() => {
  vi.useRealTimers();
});

const experienceOf = (pages: readonly string[]) => ({
  explorer: new Explorer(),
  scalesMs: new Map(pages.map((page, index) => [page, index + 1])),
});
const listPages = async (key: string | null) => [...(await readExperience(key)).scalesMs.keys()];

test.each([null, HOME])('the 100 pages that were loaded last are kept, in order', async (key) => {
  const pages = Array.from({ length: 101 }, (_, index) => `page ${index}`);
  await saveExperience(key, experienceOf(pages));
  const { explorer, scalesMs } = await readExperience(key);
  expect([...scalesMs.keys()]).toEqual(pages.slice(1));
  scalesMs.delete('page 1');
  scalesMs.set('page 1', 2);
  scalesMs.set('page 0', 1);
  await saveExperience(key, { explorer, scalesMs });
  expect(await listPages(key)).toEqual([...pages.slice(3), 'page 1', 'page 0']);
});

test('what is learned on a recognised network outlives the browser, the rest does not', async () => {
  await saveExperience(HOME, experienceOf(['a']));
  await saveExperience(TRAIN, experienceOf(['b']));
  await saveExperience(null, experienceOf(['c']));
  session.items = {};
  expect(await Promise.all([HOME, TRAIN, null].map(listPages))).toEqual([['a'], ['b'], []]);
  await forgetExperience(TRAIN);
  expect((await listExperiences()).map(({ key }) => key)).toEqual([HOME]);
});

test('what is older than three days is not used, and removed', async () => {
  vi.stubGlobal('chrome', { ...chrome, history: {} });
  vi.useFakeTimers({ toFake: ['Date'] });
  await saveExperience(HOME, experienceOf(['a']));
  vi.setSystemTime(Date.now() + 71 * HOUR_MS);
  await saveExperience(TRAIN, experienceOf(['b']));
  expect((await listExperiences()).map(({ key }) => key)).toEqual([TRAIN, HOME]);
  vi.setSystemTime(Date.now() + 2 * HOUR_MS);
  expect(await Promise.all([HOME, TRAIN].map(listPages))).toEqual([[], ['b']]);
  await removeExpiredExperiences();
  expect(Object.keys(await ownStorage.get(null))).toEqual([`autopilot-explorer:${TRAIN}`]);
});

test('what cannot be read begins anew and is removed', async () => {
  await ownStorage.set({ [`autopilot-explorer:${HOME}`]: { scales: 'many' }, settings: {} });
  expect(await listPages(HOME)).toEqual([]);
  expect(await listExperiences()).toEqual([]);
  await removeExpiredExperiences();
  expect(Object.keys(await ownStorage.get(null))).toEqual(['settings']);
});
