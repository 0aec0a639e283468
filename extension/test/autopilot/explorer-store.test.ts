import { Explorer } from '@hopwise/model';
import { expect, test, vi } from 'vitest';
import { readExperience, saveExperience } from '../../src/autopilot/explorer-store.ts';
import { StubbedStorage } from '../stubbed-storage.ts';

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

test('the 100 pages that were loaded last are kept, in order', async () => {
  vi.stubGlobal('chrome', { storage: { session: new SortingStorage() } });
  const pages = Array.from({ length: 101 }, (_, index) => `page ${index}`);
  await saveExperience({
    explorer: new Explorer(),
    scalesMs: new Map(pages.map((page, index) => [page, index + 1])),
  });
  const { explorer, scalesMs } = await readExperience();
  expect([...scalesMs.keys()]).toEqual(pages.slice(1));
  scalesMs.delete('page 1');
  scalesMs.set('page 1', 2);
  scalesMs.set('page 0', 1);
  await saveExperience({ explorer, scalesMs });
  expect([...(await readExperience()).scalesMs.keys()]).toEqual([...pages.slice(3), 'page 1', 'page 0']);
});
