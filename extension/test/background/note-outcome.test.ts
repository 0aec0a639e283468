import { beforeEach, expect, test, vi } from 'vitest';
import { showBadge } from '../../src/background/badge.ts';
import { noteOutcome } from '../../src/background/note-outcome.ts';
import type { TabLoad } from '../../src/background/tab-loads.ts';
import { addLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

vi.mock('../../src/background/badge.ts');

const TAB = 7;
const PAGE = 'https://page.test/';
const TIME_ORIGIN = 1.7e12;

/** What the tab shows by the time that the load has been judged. */
let shownOrigin: number | 'busy';
let shownUrl: string;

beforeEach(() => {
  shownOrigin = TIME_ORIGIN;
  shownUrl = PAGE;
  vi.mocked(showBadge).mockClear();
  vi.stubGlobal('chrome', {
    storage: { session: new StubbedStorage() },
    tabs: { get: async () => ({ url: shownUrl, status: 'complete', active: true }) },
    scripting: {
      executeScript: async () => {
        if (shownOrigin === 'busy') await new Promise(() => undefined);
        return [{ result: { timeOrigin: shownOrigin, willReport: false, isStopped: false } }];
      },
    },
  });
});

async function noteSlowLoad(overlap = 0): Promise<void> {
  const { id: _id, ...fields } = loadOf(0, { overlap, isDetailed: false, recording: { pltMs: 9_000 } });
  const load = { phase: 'recorded', url: PAGE, timeOrigin: TIME_ORIGIN, isNavigationSeen: false };
  await noteOutcome(TAB, load as TabLoad, await addLoad(fields), {
    autopilot: { readReferences: async () => () => null },
    detailedPages: { wantIfRare: async () => undefined },
    pins: { listPins: async () => [] },
  });
}

test.each([
  ['a load alone', 0, 9_000],
  ['none beside those of other tabs', 1, null],
])('the gain on the icon is counted from what the page took in %s', async (_words, overlap, seenMs) => {
  await noteSlowLoad(overlap);
  expect(vi.mocked(showBadge).mock.calls).toEqual([[TAB, null, seenMs, []]]);
});

test.each<[string, number | 'busy', string, number]>([
  ['shows the page', TIME_ORIGIN, PAGE, 1],
  ['shows the page at an address that its script has set', TIME_ORIGIN, `${PAGE}view`, 1],
  ['shows the next page', TIME_ORIGIN + 3_000, 'https://next.test/', 0],
  ['has loaded the page anew', TIME_ORIGIN + 3_000, PAGE, 0],
  ['shows the page, which is too busy to answer', 'busy', PAGE, 1],
  ['shows the next page, which is too busy to answer', 'busy', 'https://next.test/', 0],
])('the icon of a tab that %s', async (_words, origin, url, badges) => {
  shownOrigin = origin;
  shownUrl = url;
  await noteSlowLoad();
  expect(showBadge).toHaveBeenCalledTimes(badges);
});
