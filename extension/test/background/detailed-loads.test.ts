import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DetailedLoads } from '../../src/background/detailed-loads.ts';

const EVENTS = [
  'onBeforeRequest',
  'onSendHeaders',
  'onHeadersReceived',
  'onBeforeRedirect',
  'onCompleted',
  'onErrorOccurred',
];

/** Tabs of which each event is listened to. */
let listened: Map<unknown, number>;
let wanted: string[];
let openTabs: number[];

beforeEach(() => {
  vi.useFakeTimers();
  listened = new Map();
  wanted = [];
  const webRequest = Object.fromEntries(
    EVENTS.map((name) => [
      name,
      {
        addListener: (listener: unknown, { tabId }: { tabId: number }) => listened.set(listener, tabId),
        removeListener: (listener: unknown) => listened.delete(listener),
      },
    ]),
  );
  openTabs = [];
  vi.stubGlobal('chrome', { webRequest, tabs: { query: async () => openTabs.map((id) => ({ id })) } });
});

afterEach(() => {
  vi.useRealTimers();
});

const nothing = () => undefined;
const sink = { addRequest: nothing, updateRequest: nothing, addFailure: nothing };
const start = () =>
  new DetailedLoads(sink, {
    ready: Promise.resolve(),
    isForAll: false,
    has: (url) => url === 'https://wanted.test/',
    want: async (url) => void wanted.push(url),
  });
const tabs = () => [...new Set(listened.values())];

test('listens to the requests of a wanted page’s tab until its load is recorded', async () => {
  const loads = start();
  expect(await loads.start(1, 'https://other.test/')).toBe(false);
  expect(tabs()).toEqual([]);
  expect(await loads.start(2, 'https://wanted.test/')).toBe(true);
  expect(await loads.start(2, 'https://wanted.test/')).toBe(true);
  expect(listened.size).toBe(EVENTS.length);
  expect(tabs()).toEqual([2]);
  loads.end(2);
  expect(listened.size).toBe(0);
});

test('stops when the tab goes to another page, and sooner or later when it is closed', async () => {
  const loads = start();
  await loads.start(1, 'https://wanted.test/');
  expect(await loads.start(1, 'https://other.test/')).toBe(false);
  expect(listened.size).toBe(0);
  await loads.start(1, 'https://wanted.test/');
  await loads.start(2, 'https://wanted.test/');
  openTabs = [2];
  await loads.removeClosedTabs();
  expect(tabs()).toEqual([2]);
});

test('a tab that popup or panel shows is listened to before it navigates, and recorded in detail, whatever its page', async () => {
  const loads = start();
  loads.watch(1);
  expect(tabs()).toEqual([1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await loads.start(1, 'https://other.test/')).toBe(true);
  expect(wanted).toEqual(['https://other.test/']);
  loads.watch(1);
  await vi.advanceTimersByTimeAsync(2_999);
  // Its load has been recorded; the next one may begin at once.
  loads.end(1);
  expect(tabs()).toEqual([1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(tabs()).toEqual([]);
  expect(await loads.start(1, 'https://other.test/')).toBe(false);
});

test('a page that is observed from its start on is listened to from then on', () => {
  const loads = start();
  loads.join(1);
  loads.join(1);
  expect(listened.size).toBe(EVENTS.length);
  expect(tabs()).toEqual([1]);
});

test('listens to nothing without the permission, and to a tab that is shown from when it is given', () => {
  const { webRequest } = chrome;
  Reflect.deleteProperty(chrome, 'webRequest');
  const loads = start();
  loads.watch(1);
  loads.join(1);
  Reflect.set(chrome, 'webRequest', webRequest);
  expect(tabs()).toEqual([]);
  loads.watch(1);
  expect(tabs()).toEqual([1]);
});
