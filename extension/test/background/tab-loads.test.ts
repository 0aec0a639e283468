import { beforeEach, expect, test, vi } from 'vitest';
import { TabLoads } from '../../src/background/tab-loads.ts';
import type { ObservedRequest } from '../../src/recorder/observed-request.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

let session: StubbedStorage;

beforeEach(() => {
  session = new StubbedStorage();
  vi.stubGlobal('chrome', { storage: { session } });
});

const request = (requestId: string, type: ObservedRequest['type'], url = 'https://page.test/') =>
  ({ requestId, type, url }) as ObservedRequest;
const countSaved = () => Object.keys(session.items).length;
const saved = () => vi.waitFor(() => expect(countSaved()).toBe(1), { timeout: 60_000 });

test('a worker continues where the previous one was stopped', async () => {
  const before = new TabLoads();
  before.addRequest(1, request('nav', 'document'));
  before.addRequest(1, request('a', 'image'));
  await saved();

  const after = new TabLoads();
  // Events arrive before storage has answered.
  after.updateRequest(1, 'a', { status: 200 });
  after.addRequest(1, request('b', 'image'));
  const load = await after.getLoad(1);
  expect(load?.requests.map(({ requestId, status }) => [requestId, status])).toEqual([
    ['nav', undefined],
    ['a', 200],
    ['b', undefined],
  ]);
  // It saves what it added before the next test begins.
  await vi.waitFor(() => expect(JSON.stringify(session.items)).toContain('"b"'), { timeout: 60_000 });
});

test('what is kept for the next worker has no query string', async () => {
  const before = new TabLoads();
  before.addRequest(1, request('nav', 'document', 'https://user:secret@page.test/?secret#secret'));
  before.addRequest(1, { ...request('a', 'image', 'https://page.test/a.png?secret'), startedAt: 5 });
  before.updateRequest(1, 'a', { referrer: 'https://page.test/?secret' });
  before.addFailure(1, 'https://page.test/b.png?secret');
  expect(await before.getLoad(1)).toMatchObject({
    url: 'https://user:secret@page.test/?secret#secret',
    hidesQueries: false,
  });
  await saved();
  expect(JSON.stringify(session.items)).not.toContain('secret');
  const after = new TabLoads();
  // Reported again to the worker that it starts.
  after.addRequest(1, { ...request('a', 'image', 'https://page.test/a.png?secret'), startedAt: 5 });
  const load = await after.getLoad(1);
  expect(load).toMatchObject({ url: 'https://page.test/?', hidesQueries: true });
  expect(load!.requests.map(({ url }) => url)).toEqual(['https://page.test/?', 'https://page.test/a.png?']);
});

test('a navigation starts a load of its own, its redirects do not', async () => {
  const loads = new TabLoads();
  loads.addRequest(1, request('nav', 'document', 'http://page.test/'));
  loads.addRequest(1, request('nav', 'document', 'https://page.test/'));
  expect((await loads.getLoad(1))?.requests).toHaveLength(2);
  expect((await loads.getLoad(1))?.url).toBe('http://page.test/');
  loads.addRequest(1, request('next', 'document'));
  expect((await loads.getLoad(1))?.requests).toHaveLength(1);
});

test('requests of a tab whose page was not observed, or is recorded already, are not kept', async () => {
  const loads = new TabLoads();
  loads.addRequest(1, request('a', 'image'));
  expect(await loads.getLoad(1)).toBeUndefined();
  loads.addRequest(1, request('nav', 'document'));
  loads.updateLoad(1, 'nav', { phase: 'recorded', storedId: 3, requests: [] });
  loads.addRequest(1, request('late', 'fetch'));
  expect((await loads.getLoad(1))?.requests).toEqual([]);
  loads.updateLoad(1, 'another', { storedId: 9 });
  expect((await loads.getLoad(1))?.storedId).toBe(3);
});

test('nothing is kept of tabs that are closed, whichever worker saw them', async () => {
  new TabLoads().addRequest(1, request('nav', 'document'));
  await saved();
  vi.stubGlobal('chrome', { ...chrome, tabs: { query: async () => [{ id: 1 }] } });
  const loads = new TabLoads();
  await loads.removeClosedTabs();
  expect(await loads.getLoad(1)).toBeDefined();
  vi.stubGlobal('chrome', { ...chrome, tabs: { query: async () => [{ id: 2 }] } });
  await loads.removeClosedTabs();
  await vi.waitFor(() => expect(countSaved()).toBe(0), { timeout: 60_000 });
});

test('an event reported twice counts once, a redirect to the same address counts separately', async () => {
  const loads = new TabLoads();
  const at = (requestId: string, startedAt: number) =>
    ({ ...request(requestId, 'image'), startedAt }) as ObservedRequest;
  loads.addRequest(1, request('nav', 'document'));
  for (const one of [at('a', 5), at('b', 5), at('a', 5), at('a', 6)]) loads.addRequest(1, one);
  expect((await loads.getLoad(1))?.requests.slice(1)).toEqual([at('a', 5), at('b', 5), at('a', 6)]);
});

test('a repeated event of a redirect does not change the hop after it', async () => {
  const loads = new TabLoads();
  const at = (startedAt: number) => ({ ...request('nav', 'document'), startedAt }) as ObservedRequest;
  loads.addRequest(1, at(5));
  loads.updateRequest(1, 'nav', { endedAt: 7, redirected: true });
  loads.addRequest(1, at(8));
  loads.updateRequest(1, 'nav', { endedAt: 7, redirected: true });
  loads.updateRequest(1, 'nav', { endedAt: 9, status: 200 });
  expect((await loads.getLoad(1))?.requests).toMatchObject([
    { startedAt: 5, endedAt: 7, redirected: true },
    { startedAt: 8, endedAt: 9, status: 200 },
  ]);
  expect((await loads.getLoad(1))?.requests[1]?.redirected).toBeFalsy();
});

test('failures are kept by URL while the page loads, also of requests that are not listened to', async () => {
  const loads = new TabLoads();
  loads.addFailure(1, 'https://page.test/before.js');
  loads.addRequest(1, request('nav', 'document'));
  loads.addFailure(1, 'https://page.test/a.js');
  for (let number = 0; number < 300; number++) loads.addFailure(1, `https://page.test/${number}.png`);
  loads.updateLoad(1, 'nav', { phase: 'recorded' });
  loads.addFailure(1, 'https://page.test/after.js');
  const failures = (await loads.getLoad(1))!.failures;
  expect(failures).toHaveLength(200);
  expect(failures[0]).toBe('https://page.test/a.js');
  expect(failures).not.toContain('https://page.test/after.js');
});

test('failures before a page reports are those of its load if they came after its beginning', async () => {
  vi.useFakeTimers({ now: 1_000 });
  const loads = new TabLoads();
  loads.addFailure(1, 'https://page.test/of-the-page-before.js');
  await loads.getLoad(1);
  vi.setSystemTime(3_000);
  loads.addFailure(1, 'https://page.test/a.js');
  loads.begin(1, 'doc', 'https://page.test/', { timeOrigin: 2_000 });
  expect(await loads.getLoad(1)).toMatchObject({ phase: 'loading', failures: ['https://page.test/a.js'] });
  vi.useRealTimers();
});

test('of what the last worker kept, no more is read than the tab’s own load', async () => {
  await session.set({ 'tab-load:2': {}, others: ['long'] });
  const keys: unknown[] = [];
  const { get } = session;
  session.get = (key) => {
    keys.push(key);
    return get.call(session, key);
  };
  const loads = new TabLoads();
  loads.addRequest(1, request('nav', 'document'));
  loads.updateRequest(1, 'nav', { status: 200 });
  expect((await loads.getLoad(1))?.requests).toHaveLength(1);
  expect(keys).toEqual(['tab-load:1']);
});

test('a list of requests is saved when it grows no more, or after five seconds; what a load has become at once', async () => {
  // What the tests before have left to be saved is saved by then, however busy the machine is: timers end in their order.
  await new Promise((resolve) => setTimeout(resolve, 500));
  vi.useFakeTimers();
  const writes = vi.spyOn(session, 'set');
  const loads = new TabLoads();
  loads.addRequest(1, request('nav', 'document'));
  loads.updateLoad(1, 'nav', { isDetailed: true });
  await vi.advanceTimersByTimeAsync(400);
  expect(writes).toHaveBeenCalledTimes(1);
  const grow = async (from: number, to: number) => {
    for (let number = from; number < to; number++) {
      loads.addRequest(1, request(`${number}`, 'image'));
      await vi.advanceTimersByTimeAsync(100);
    }
  };
  await grow(0, 40);
  expect(writes).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(writes).toHaveBeenCalledTimes(2);
  await grow(40, 100);
  expect(writes).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(400);
  expect(writes).toHaveBeenCalledTimes(4);
  loads.addRequest(1, request('last', 'image'));
  await vi.advanceTimersByTimeAsync(100);
  loads.updateLoad(1, 'nav', { phase: 'recorded', requests: [] });
  await vi.advanceTimersByTimeAsync(400);
  expect(writes).toHaveBeenCalledTimes(5);
  expect(session.items['tab-load:1']).toMatchObject({ phase: 'recorded' });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(writes).toHaveBeenCalledTimes(5);
  vi.useRealTimers();
});
