import { HOUR_MS } from '@hopwise/contract';
import type { Recording } from '@hopwise/pageload-emulator';
import { openDB } from 'idb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportLoad } from '../../src/background/export-load.ts';
import { Memory } from '../../src/background/memory.ts';
import { TabLoads } from '../../src/background/tab-loads.ts';
import { Verifications } from '../../src/background/verifications.ts';
import { summariseLoad } from '../../src/load/load-summary.ts';
import type { ObservedRequest } from '../../src/recorder/observed-request.ts';
import { openDatabase } from '../../src/storage/database.ts';
import {
  addLoad,
  findNewestLoad,
  getAllLoads,
  getLoad,
  getSummaries,
  MAX_LOADS,
  removeLoads,
  type StoredLoad,
  updateLoad,
} from '../../src/storage/loads.ts';
import { findQueries, saveQueries } from '../../src/storage/queries.ts';
import { stripLoadUrls } from '../../src/storage/strip-load.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

let session: StubbedStorage;
let tabs: TabLoads;
let verifications: Verifications;
let memory: Memory;

beforeEach(async () => {
  vi.useRealTimers();
  session = new StubbedStorage();
  vi.stubGlobal('chrome', { storage: { session } });
  await removeLoads(() => true);
  tabs = new TabLoads();
  verifications = new Verifications();
  memory = new Memory(tabs, verifications);
});

afterEach(async () => {
  vi.useRealTimers();
  // What is erased, kept, changed or stripped of loads is so of their summaries.
  expect(await getSummaries()).toEqual((await getAllLoads()).map(summariseLoad));
  const database = await openDatabase();
  expect(await database.getAllKeys('summaries')).toEqual(await database.getAllKeys('loads'));
});

/** Stores a load with its query strings replaced, as after a page load. */
async function store(url: string, more: Partial<StoredLoad> = {}): Promise<number> {
  const recording = {
    url,
    requests: [{ id: 0, url, fromCache: true }],
    recordedAt: '2026-11-20T12:00:00Z',
  } as Recording;
  const { queries, ...urls } = stripLoadUrls({ requestedUrl: url, recording });
  const id = await addLoad({
    ...urls,
    prediction: null,
    problem: '',
    verification: null,
    verifiedPrediction: null,
    ...more,
  });
  await saveQueries(id, queries);
  return id;
}

const storedUrls = async () => (await getAllLoads()).map(({ recording }) => recording.url);
const passHours = (hours: number) =>
  vi.useFakeTimers({ now: Date.now() + hours * HOUR_MS, toFake: ['Date'] });

test('loads of the version that stored query strings are erased', async () => {
  vi.resetModules();
  const { IDBFactory } = await import('fake-indexeddb');
  const others = indexedDB;
  vi.stubGlobal('indexedDB', new IDBFactory());
  const before = await openDB('hopwise', 1, {
    upgrade: (db) => void db.createObjectStore('loads', { keyPath: 'id', autoIncrement: true }),
  });
  await before.add('loads', { recording: { url: 'https://a.test/?secret' } });
  before.close();
  const now = await import('../../src/storage/loads.ts');
  expect(await now.getAllLoads()).toEqual([]);
  vi.stubGlobal('indexedDB', others);
});

test('where deletions from the history are not heard of, nothing is kept for more than a day', async () => {
  const id = await store('https://a.test/');
  passHours(23);
  expect(await getLoad(id)).toBeDefined();
  passHours(2);
  expect(await getAllLoads()).toEqual([]);
});

test('a load is neither read nor changed after seven days, and is removed with the next one', async () => {
  vi.stubGlobal('chrome', { ...chrome, history: {} });
  const id = await store('https://a.test/');
  passHours(7 * 24 - 1);
  expect(await getLoad(id)).toBeDefined();
  passHours(2);
  expect(await getLoad(id)).toBeUndefined();
  expect(await findNewestLoad('https://a.test/')).toBeUndefined();
  expect(await getAllLoads()).toEqual([]);
  await expect(updateLoad(id, { problem: 'x' })).rejects.toThrow('no longer stored');
  await store('https://b.test/');
  const database = await openDB('hopwise');
  expect(await database.count('loads')).toBe(1);
  database.close();
});

test('a start of the worker removes what is too old, with its query strings', async () => {
  const id = await store('https://a.test/?q=1');
  passHours(8 * 24);
  await memory.removeExpired();
  vi.useRealTimers();
  expect(await getLoad(id)).toBeUndefined();
  expect(findQueries(id)).toBeNull();
});

test('a load from the future does not stay for ever', async () => {
  passHours(10 * 24);
  await store('https://a.test/');
  vi.useRealTimers();
  expect(await getAllLoads()).toEqual([]);
});

test('a shorter age limit erases older loads at once, and says how many', async () => {
  await store('https://a.test/');
  passHours(2);
  await store('https://b.test/');
  const { erased, settings } = await memory.changeSettings({ ageLimitHours: 1 });
  expect(erased).toEqual({ loads: 1, verifications: 0, network: false });
  expect(settings).toMatchObject({ ageLimitHours: 1, keepsQueries: false, excludedSites: [] });
  expect(await storedUrls()).toEqual(['https://b.test/']);
});

test('erasing removes loads, verifications, query strings and the loads of tabs, and says what', async () => {
  await store('https://a.test/?q=1', { verification: verificationOf() });
  await store('https://b.test/');
  tabs.addRequest(1, { requestId: '1', type: 'document', url: 'https://a.test/?q=1' } as ObservedRequest);
  await vi.waitFor(() => expect(JSON.stringify(session.items)).toContain('tab-load:1'), { timeout: 10_000 });
  expect(await memory.eraseAll()).toEqual({ loads: 2, verifications: 1, network: false });
  expect(await memory.measure()).toEqual({ loads: 0, bytes: 0, oldestMs: null });
  expect(await tabs.getLoad(1)).toBeUndefined();
  await vi.waitFor(() => expect(JSON.stringify(session.items)).not.toContain('a.test'), { timeout: 10_000 });
});

test('excluding a site erases its loads and those of its subdomains', async () => {
  for (const url of ['https://a.test/', 'https://www.a.test/?q', 'https://b.test/']) await store(url);
  const { erased } = await memory.changeSettings({ excludedSites: ['a.test'] });
  expect(erased.loads).toBe(2);
  expect(await storedUrls()).toEqual(['https://b.test/']);
});

test('requests of an excluded site are not kept, nor those of its frames on other sites', async () => {
  await memory.changeSettings({ excludedSites: ['a.test'] });
  const request = (requestId: string, type: string, url: string) =>
    ({ requestId, type, url }) as ObservedRequest;
  tabs.addRequest(1, request('1', 'document', 'https://www.a.test/'), null);
  tabs.addRequest(1, request('2', 'image', 'https://b.test/i.png'), 'https://www.a.test');
  expect(await tabs.getLoad(1)).toBeUndefined();
  tabs.addRequest(1, request('3', 'document', 'https://b.test/'), 'https://www.a.test');
  tabs.addRequest(1, request('4', 'iframe', 'https://a.test/frame'), 'https://b.test');
  tabs.addRequest(1, request('5', 'image', 'https://c.test/in-frame.png'), 'https://a.test');
  tabs.addRequest(1, request('6', 'image', 'https://b.test/own.png'), 'https://b.test');
  expect((await tabs.getLoad(1))?.requests.map(({ requestId }) => requestId)).toEqual(['3', '6']);
  tabs.addRequest(1, request('7', 'document', 'https://a.test/'), 'https://b.test');
  expect(await tabs.getLoad(1), 'the load before it').toBeUndefined();
});

test('pages removed from the history are erased, with all query strings of their address', async () => {
  for (const url of ['https://a.test/?q=1', 'https://a.test/?q=2', 'https://a.test/', 'https://b.test/'])
    await store(url);
  await memory.forgetPages(['https://a.test/?q=1', 'https://b.test/#part']);
  expect(await storedUrls()).toEqual(['https://a.test/']);
});

test('a page is found by its URL with any query string', async () => {
  const id = await store('https://a.test/?q=1');
  expect(await findNewestLoad('https://a.test/?q=2')).toMatchObject({ id });
  expect(await findNewestLoad('https://a.test/')).toBeUndefined();
});

test('an export has query strings only on request, and only while they are known', async () => {
  const url = 'https://a.test/?q=secret';
  const id = await store(url);
  const load = (await getLoad(id))!;
  expect(JSON.stringify(await exportLoad(load, false))).not.toContain('secret');
  expect((await exportLoad(load, true)).recording.url).toBe(url);
  await saveQueries(id, []);
  vi.stubGlobal('chrome', { ...chrome, tabs: { query: async () => [] } });
  await expect(exportLoad(load, true)).rejects.toThrow('Reload the page to export it.');
});

test('an export does not say on which network the load was', async () => {
  const id = await store('https://a.test/', { networkKey: 'key-of-the-network' });
  expect(JSON.stringify(await exportLoad((await getLoad(id))!, false))).not.toContain('key-of-the-network');
});

test('query strings that are kept are exported on request only, and are stripped when they are no longer to be kept', async () => {
  const url = 'https://a.test/?q=secret';
  await memory.changeSettings({ keepsQueries: true });
  const recording = { url, requests: [{ id: 0, url, fromCache: true }] } as Recording;
  const id = await store('https://other.test/', { requestedUrl: url, recording });
  const load = (await getLoad(id))!;
  expect((await exportLoad(load, true)).recording.url).toBe(url);
  expect(JSON.stringify(await exportLoad(load, false))).not.toContain('secret');
  await memory.changeSettings({ keepsQueries: false });
  expect(JSON.stringify(await getAllLoads())).not.toContain('secret');
});

test('a load whose query strings are gone is not verified, with the reason', async () => {
  const id = await store('https://a.test/?q=1');
  await saveQueries(id, []);
  vi.stubGlobal('chrome', { ...chrome, tabs: { query: async () => [] } });
  await expect(verifications.start((await getLoad(id))!, {})).rejects.toThrow(
    'The query strings of this load are no longer known. Reload the page to verify it.',
  );
});

test('the query strings of the oldest loads make room for newer ones', async () => {
  const url = `https://page.example/?${'x'.repeat(900 * 1024)}`;
  const ids = [await store(url), await store(url), await store(url)];
  const kept = ids.map(findQueries);
  expect(kept.map((queries) => queries !== null)).toEqual([false, true, true]);
});

test('a load that makes room for a newer one leaves no query string', async () => {
  const first = await store('https://page.example/?q=1');
  expect(findQueries(first)).not.toBeNull();
  for (let count = 0; count < MAX_LOADS; count++) await store('https://page.example/');
  expect(await getLoad(first)).toBeUndefined();
  expect(findQueries(first)).toBeNull();
});
