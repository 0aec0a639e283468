import type { Recording } from '@hopwise/pageload-emulator';
import { expect, test, vi } from 'vitest';
import {
  addLoad,
  findNewestLoad,
  getAllLoads,
  getLoad,
  MAX_LOADS,
  MAX_SITE_LOADS,
  removeLoads,
  updateLoad,
} from '../../src/storage/loads.ts';
import '../support/own-database.ts';

// With the permission for the browser's history.
vi.stubGlobal('chrome', { history: {} });

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
  vi.resetModules();
  const { addLoad } = await import('../../src/storage/loads.ts');
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

test('sixty navigations of one site leave most loads of others', async () => {
  await removeLoads(() => true);
  const others: number[] = [];
  for (let i = 0; i < MAX_LOADS; i++) others.push(await addLoad(load(`https://www.site-${i}.test/`)));
  const ofSite: number[] = [];
  // Subdomains are of the same site.
  for (let i = 0; i < 60; i++) ofSite.push(await addLoad(load(`https://${'abc'[i % 3]}.loud.test/${i}`)));
  const kept = (await getAllLoads()).map(({ id }) => id);
  const share = Math.floor(MAX_SITE_LOADS);
  expect(kept).toEqual([...others.slice(share), ...ofSite.slice(-share)]);
  // What others leave, a site may have.
  await removeLoads(({ id }) => others.includes(id));
  for (let i = 0; i < 60; i++) await addLoad(load(`https://loud.test/${i}`));
  expect(await getAllLoads()).toHaveLength(MAX_LOADS);
  // Then the next of another site takes the place of its oldest.
  await addLoad(load('https://quiet.test/'));
  await addLoad(load('https://loud.test/last'));
  expect((await getAllLoads()).filter(({ requestedUrl }) => requestedUrl.includes('quiet'))).toHaveLength(1);
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
