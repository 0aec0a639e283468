import type { Recording } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { recoverQueries } from '../../src/background/recover-queries.ts';
import type { FrameTimings } from '../../src/recorder/page-timings.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { stripLoadUrls } from '../../src/storage/strip-load.ts';

const PAGE = 'https://page.test/?q=page';
const T0 = Date.parse('2026-11-20T12:00:00.000Z');

const entryOf = (name: string, startMs: number) => ({
  name,
  initiatorType: 'img',
  startTime: startMs,
  workerStart: 0,
  fetchStart: startMs,
  domainLookupStart: 0,
  domainLookupEnd: 0,
  connectStart: 0,
  secureConnectionStart: 0,
  connectEnd: 0,
  requestStart: 0,
  responseStart: 0,
  responseEnd: startMs + 10,
  transferSize: 0,
  encodedBodySize: 0,
  decodedBodySize: 0,
  nextHopProtocol: '',
  renderBlockingStatus: '',
  deliveryType: '',
  responseStatus: 0,
});

/** What frames answer, by their ids. */
let frames: Record<number, FrameTimings>;

const frameOf = (
  url: string,
  timeOrigin: number,
  resources: [url: string, startMs: number][],
): FrameTimings => ({
  url,
  isTop: timeOrigin === T0,
  timeOrigin,
  navigation: { ...entryOf(url, 0), domInteractive: 1, domContentLoadedEventEnd: 1, loadEventEnd: 1 },
  firstContentfulPaint: null,
  largestContentfulPaint: null,
  largestContentfulPaintUrl: null,
  resources: resources.map(([name, startMs]) => ({ ...entryOf(name, startMs), maker: null })),
  scriptRuns: [],
});

beforeEach(() => {
  frames = {
    0: frameOf(PAGE, T0, [
      ['https://page.test/a.png?1st', 100],
      ['https://page.test/a.png?2nd', 200],
      ['https://page.test/frame.html?f', 50],
    ]),
    3: frameOf('https://page.test/frame.html?f', T0 + 60, [['https://page.test/in-frame.png?x', 100]]),
  };
  vi.stubGlobal('chrome', {
    tabs: {
      query: async () => [
        { id: 1, url: 'https://other.test/' },
        { id: 2, url: PAGE },
      ],
      sendMessage: async (tabId: number, _message: unknown, { frameId }: { frameId: number }) =>
        tabId === 2 ? frames[frameId] : undefined,
    },
    scripting: {
      executeScript: async () => Object.keys(frames).map((frameId) => ({ frameId: Number(frameId) })),
    },
  });
});

function loadOf(requests: [url: string, startMs: number][], requestedUrl = PAGE) {
  const recording = {
    url: PAGE,
    recordedAt: new Date(T0).toISOString(),
    requests: [[PAGE, 0] as const, ...requests].map(([url, startMs], id) => ({ id, url, startMs })),
  } as Recording;
  const { queries, ...urls } = stripLoadUrls({ requestedUrl, recording });
  return { load: urls as StoredLoad, queries };
}

test('a page that is still open tells the query strings of its load, of its frames too', async () => {
  const { load, queries } = loadOf([
    ['https://page.test/frame.html?f', 51],
    ['https://page.test/a.png?1st', 101],
    ['https://page.test/in-frame.png?x', 161],
    ['https://page.test/a.png?2nd', 201],
  ]);
  expect(JSON.stringify(load)).not.toContain('1st');
  expect(await recoverQueries(load)).toEqual(queries);
});

test('requests of one path that began together keep different query strings', async () => {
  const { load, queries } = loadOf([
    ['https://page.test/a.png?1st', 101],
    ['https://page.test/a.png?2nd', 102],
  ]);
  expect(await recoverQueries(load)).toEqual(queries);
});

test('they stay unknown where one is missing, or the page was loaded again', async () => {
  expect(await recoverQueries(loadOf([['https://page.test/gone.png?1', 10]]).load)).toBeNull();
  expect(await recoverQueries(loadOf([], 'https://page.test/start?redirected').load)).toBeNull();
  const { load, queries } = loadOf([]);
  expect(await recoverQueries(load)).toEqual(queries);
  frames[0] = { ...frames[0]!, timeOrigin: T0 + 5_000 };
  expect(await recoverQueries(load)).toBeNull();
});
