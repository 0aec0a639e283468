import { afterEach, expect, test, vi } from 'vitest';
import { collectRecording } from '../../src/background/collect-recording.ts';
import type { TabLoad } from '../../src/background/tab-loads.ts';
import type { FrameTimings } from '../../src/recorder/page-timings.ts';
import { entry } from '../support/resource-entry.ts';

/** When the browser's clock says that the page began, milliseconds since 1970. */
const ORIGIN_MS = 1_800_000_000_000;
const SLEPT_MS = 28_800_000;
const PAGE = 'https://page.test/';
const FRAME = 'https://frame.test/';

const timingsOf = (url: string, more: Partial<FrameTimings>): FrameTimings => ({
  url,
  isTop: url === PAGE,
  timeOrigin: ORIGIN_MS,
  navigation: { ...entry(url, 0, 20), domInteractive: 30, domContentLoadedEventEnd: 40, loadEventEnd: 200 },
  firstContentfulPaint: null,
  largestContentfulPaint: null,
  largestContentfulPaintUrl: null,
  resources: [],
  scriptRuns: [],
  ...more,
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a page in a process from before a sleep, and its frame in one from after it, have one clock', async () => {
  const frame = timingsOf(FRAME, {
    timeOrigin: ORIGIN_MS + SLEPT_MS + 50,
    systemOrigin: ORIGIN_MS + SLEPT_MS + 50,
    resources: [entry(`${FRAME}a.png`, 30, 50)],
  });
  vi.stubGlobal('chrome', {
    permissions: { contains: async () => true },
    scripting: {
      executeScript: async ({ files }: { files?: string[] }) =>
        files ? [{ frameId: 0 }, { frameId: 7 }] : [{ result: { timeOrigin: ORIGIN_MS, willReport: false } }],
    },
    tabs: { sendMessage: async () => frame },
  });
  const load = { url: PAGE, requests: [], failures: [], isDetailed: false, hidesQueries: false };
  const sent = timingsOf(PAGE, { systemOrigin: ORIGIN_MS + SLEPT_MS });
  const none = { has: () => false };
  const { recordedAt, requests } = await collectRecording(
    ...([1, load as unknown as TabLoad, none, 'document', true, sent, true] as const),
  );
  expect(Date.parse(recordedAt)).toBe(ORIGIN_MS + SLEPT_MS);
  expect(requests.map(({ url, startMs }) => [url, startMs])).toEqual([
    [PAGE, 0],
    [FRAME, 50],
    [`${FRAME}a.png`, 80],
  ]);
});
