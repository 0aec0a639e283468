import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReportingPage } from '../../src/background/reported-load.ts';
import { measureOverlap, noteLoadTime } from '../../src/background/tab-overlap.ts';
import type { FrameTimings } from '../../src/recorder/page-timings.ts';

const OWN = 1;
const WEB = 'https://other.test/';

/** When the page whose load is measured began: each test has a time of its own, as the worker remembers the last loads. */
let beganMs = 1.8e12;
let tabs: { id: number; url?: string; status: string }[];
/** What the documents of tabs tell; tabs without one do not answer. */
let documents: Map<number, { timeOrigin: number; willReport: boolean } | null>;

beforeEach(() => {
  beganMs += 3_600_000;
  tabs = [];
  documents = new Map();
  vi.useFakeTimers();
  vi.stubGlobal('chrome', {
    tabs: { query: async () => [{ id: OWN, url: 'https://page.test/', status: 'complete' }, ...tabs] },
    scripting: {
      executeScript: async ({ target }: { target: { tabId: number } }) => {
        const answer = documents.get(target.tabId);
        return answer === undefined ? new Promise(() => undefined) : [{ result: answer }];
      },
    },
  });
  return () => vi.useRealTimers();
});

/** A report of a tab's page that began so long after the one that is measured, and took so long. */
const reportOf = (tabId: number, fromMs: number, loadEventEnd: number) =>
  [
    { tabId, leftMs: null } as ReportingPage,
    {
      loaded: true,
      timings: { timeOrigin: beganMs + fromMs, navigation: { loadEventEnd } } as FrameTimings,
    },
  ] as const;

/** The measured share of a load that took four seconds, and how long that lasted. */
async function measure(): Promise<{ overlap: number; waitedMs: number }> {
  const startMs = Date.now();
  let waitedMs = 0;
  const measured = measureOverlap(...reportOf(OWN, 0, 4_000)).then((overlap) => {
    waitedMs = Date.now() - startMs;
    return overlap;
  });
  await vi.runAllTimersAsync();
  return { overlap: await measured, waitedMs };
}

describe('of pages that have reported', () => {
  test.each([
    ['none', [], 0],
    ['one that loaded in its second half', [[2, 2_000, 5_000]], 0.5],
    ['one that loaded all the time', [[2, -500, 9_000]], 1],
    [
      'two, of which what they share counts once',
      [
        [2, 0, 2_000],
        [3, 1_000, 2_000],
      ],
      0.75,
    ],
    [
      'two with a pause between them',
      [
        [3, 3_000, 4_000],
        [2, 0, 1_000],
      ],
      0.5,
    ],
    ['one that had loaded before', [[2, -3_000, 3_000]], 0],
    ['one that began later', [[2, 4_000, 1_000]], 0],
    ['the page before in its own tab', [[OWN, -3_000, 4_000]], 0],
  ] as [string, [number, number, number][], number][])('%s', async (_words, others, share) => {
    for (const other of others) noteLoadTime(...reportOf(...other));
    expect((await measure()).overlap).toBe(share);
  });

  test('one that was left unfinished counts until then', async () => {
    const [page, settled] = reportOf(2, 0, 0);
    noteLoadTime({ ...page, leftMs: 1_000 }, { ...settled, loaded: false });
    expect((await measure()).overlap).toBe(0.25);
  });
});

test('a page that had just loaded and reports a second later is waited for', async () => {
  tabs = [{ id: 2, url: WEB, status: 'complete' }];
  setTimeout(() => noteLoadTime(...reportOf(2, 0, 4_000)), 1_100);
  expect(await measure()).toEqual({ overlap: 1, waitedMs: 1_200 });
});

test('nothing is waited for where no other tab shows a page of the web', async () => {
  tabs = [
    { id: 2, url: 'chrome://newtab/', status: 'complete' },
    { id: 3, status: 'complete' },
  ];
  expect(await measure()).toEqual({ overlap: 0, waitedMs: 0 });
});

describe('of tabs that still load', () => {
  test.each([
    ['a page counts since it began', { timeOrigin: 1_000, willReport: true }, 0.75],
    ['one that never ends counts for half a minute', { timeOrigin: -28_000, willReport: true }, 0.5],
    ['one that has loaded and has a frame that loads does not', { timeOrigin: 0, willReport: false }, 0],
    ['one to which the extension has no access does not', null, 0],
    ['one that is too busy to answer counts', undefined, 1],
  ])('%s', async (_words, page, share) => {
    tabs = [{ id: 2, url: WEB, status: 'loading' }];
    if (page !== undefined) documents.set(2, page && { ...page, timeOrigin: beganMs + page.timeOrigin });
    expect((await measure()).overlap).toBe(share);
  });
});
