import 'fake-indexeddb/auto';
import type { Recording } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  addLoad,
  findNewestLoad,
  getAllLoads,
  getLoad,
  MAX_LOADS,
  updateLoad,
} from '../../src/storage/loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { local: new StubbedStorage() } });
});

const load = (url: string, requestedUrl = url) => ({
  requestedUrl,
  recording: { url, requests: [] } as unknown as Recording,
  hidesQueries: false,
  prediction: null,
  problem: '',
  verification: null,
  verifiedPrediction: null,
});

test('is opened again after a failure', async () => {
  vi.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
    throw new DOMException('quota exceeded', 'QuotaExceededError');
  });
  await expect(addLoad(load('https://page.test/'))).rejects.toThrow('quota exceeded');
  expect(await addLoad(load('https://page.test/'))).toBeGreaterThan(0);
});

test('keeps the newest loads and removes the older ones', async () => {
  const ids: number[] = [];
  for (let i = 0; i < MAX_LOADS + 3; i++) ids.push(await addLoad(load(`https://page.test/${i}`)));
  const kept = await getAllLoads();
  expect(kept.map((one) => one.id)).toEqual(ids.slice(3));
  expect(await getLoad(ids[2]!)).toBeUndefined();
});

test('finds the newest load by its URL before and after redirects', async () => {
  await addLoad(load('https://a.test/'));
  const id = await addLoad({ ...load('https://a.test/', 'http://a.test/'), problem: 'newer' });
  expect(await findNewestLoad('https://a.test/')).toMatchObject({ id, problem: 'newer' });
  expect(await findNewestLoad('http://a.test/')).toMatchObject({ id });
  expect(await findNewestLoad('https://b.test/')).toBeUndefined();
});

test('changes a load, and throws when it is no longer stored', async () => {
  const id = await addLoad(load('https://c.test/'));
  expect(await updateLoad(id, { problem: 'changed' })).toMatchObject({ id, problem: 'changed' });
  expect((await getLoad(id))?.problem).toBe('changed');
  await expect(updateLoad(id + 1000, {})).rejects.toThrow('no longer stored');
});
