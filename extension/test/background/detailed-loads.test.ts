import { beforeEach, expect, test, vi } from 'vitest';
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
let nowMs: number;
let isRare: boolean;
let openTabs: number[];

beforeEach(() => {
  nowMs = 1e12;
  isRare = true;
  vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
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

const nothing = () => undefined;
const sink = { addRequest: nothing, updateRequest: nothing, addFailure: nothing };
const isPromising = async (url: string) => url === 'https://promising.test/';
const start = () =>
  new DetailedLoads(sink, {
    ready: Promise.resolve(),
    isForAll: false,
    has: (url) => url === 'https://wanted.test/',
    want: async (url) => void wanted.push(url),
    wantIfRare: async (url) => {
      if (isRare) wanted.push(url);
      return isRare;
    },
  });
const tabs = () => [...new Set(listened.values())];

test('listens to the requests of a wanted page’s tab until its load is recorded', async () => {
  const loads = start();
  expect(await loads.start(1, 'https://other.test/', isPromising)).toBe(false);
  expect(tabs()).toEqual([]);
  expect(await loads.start(2, 'https://wanted.test/', isPromising)).toBe(true);
  expect(await loads.start(2, 'https://wanted.test/', isPromising)).toBe(true);
  expect(listened.size).toBe(EVENTS.length);
  expect(tabs()).toEqual([2]);
  loads.end(2);
  expect(listened.size).toBe(0);
});

test('stops when the tab goes to another page, and sooner or later when it is closed', async () => {
  const loads = start();
  await loads.start(1, 'https://wanted.test/', isPromising);
  expect(await loads.start(1, 'https://other.test/', isPromising)).toBe(false);
  expect(listened.size).toBe(0);
  await loads.start(1, 'https://wanted.test/', isPromising);
  await loads.start(2, 'https://wanted.test/', isPromising);
  openTabs = [2];
  await loads.removeClosedTabs();
  expect(tabs()).toEqual([2]);
});

test('a tab that popup or panel shows is recorded in detail, whatever its page', async () => {
  const loads = start();
  loads.watch(1);
  nowMs += 1_000;
  expect(await loads.start(1, 'https://other.test/', isPromising)).toBe(true);
  expect(wanted).toEqual(['https://other.test/']);
  nowMs += 10_000;
  expect(await loads.start(1, 'https://other.test/', isPromising)).toBe(false);
});

test('a promising page is recorded in detail at once, unless too many are', async () => {
  const loads = start();
  isRare = false;
  expect(await loads.start(1, 'https://promising.test/', isPromising)).toBe(false);
  expect([wanted, tabs()]).toEqual([[], []]);
  isRare = true;
  expect(await loads.start(1, 'https://promising.test/', isPromising)).toBe(true);
  expect(wanted).toEqual(['https://promising.test/']);
  expect(tabs()).toEqual([1]);
});
