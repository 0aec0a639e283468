import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameRecorder, findOwnRecorder } from '../../src/recorder/frame-recorder.ts';

const sent = vi.fn(async (_message: unknown) => undefined);
let loadEventEnd = 0;
let parsedMs: number;
/** When a prerendered page was shown. */
let activationStart: number;
/** Chromium's list of what the page was, one after another. */
let visibility: string[];
let readyState: string;
let isIdle: boolean;
/** What waits for the page to be idle. */
let waiting: (() => void)[];
/** What the browser has measured. */
let resources: { name: string; startTime: number; responseEnd: number }[];
/** Of resources and paints. */
let observers: number;
/** Those of the navigation. */
let ofNavigation: (() => void)[];

beforeEach(() => {
  vi.useFakeTimers();
  sent.mockClear();
  vi.setSystemTime(1e12 + 250);
  parsedMs = 90;
  activationStart = 0;
  visibility = [];
  readyState = 'complete';
  isIdle = true;
  waiting = [];
  resources = [];
  observers = 0;
  ofNavigation = [];
  class Observer {
    #type = '';
    #isOn = false;
    readonly #tell: () => void;
    constructor(tell: () => void) {
      this.#tell = tell;
    }
    observe({ type }: { type: string }): void {
      this.#type = type;
      if (type === 'navigation') {
        ofNavigation.push(this.#tell);
        // Chromium tells of an entry from the start on, whose load event has not ended.
        queueMicrotask(this.#tell);
        return;
      }
      this.#isOn = true;
      observers += 1;
    }
    takeRecords(): unknown[] {
      return this.#type === 'resource' ? resources : [];
    }
    disconnect(): void {
      if (this.#isOn) observers -= 1;
      this.#isOn = false;
    }
  }
  const window = { length: 0, top: null as unknown };
  window.top = window;
  vi.stubGlobal('window', window);
  vi.stubGlobal('location', { href: 'https://page.test/' });
  vi.stubGlobal('origin', 'https://page.test');
  vi.stubGlobal('PerformanceObserver', Observer);
  vi.stubGlobal('requestIdleCallback', (callback: () => void) =>
    isIdle ? callback() : void waiting.push(callback),
  );
  vi.stubGlobal('performance', {
    now: () => 250,
    timeOrigin: 1e12,
    getEntriesByType: (type: string) =>
      ({
        navigation: [
          {
            name: 'https://page.test/',
            domContentLoadedEventEnd: parsedMs,
            loadEventEnd,
            activationStart,
          },
        ],
        'visibility-state': visibility.map((name) => ({ name })),
      })[type] ?? [],
    getEntriesByName: () => [],
  });
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('removeEventListener', vi.fn());
  vi.stubGlobal('chrome', {
    runtime: { id: 'hopwise', onMessage: { addListener: vi.fn() }, sendMessage: sent },
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function start(mayRecord = async () => true, contentType = 'text/html', hidden = false): void {
  vi.stubGlobal('document', { addEventListener: vi.fn(), contentType, hidden, readyState });
  new FrameRecorder(null, mayRecord);
}

const SETTLED = expect.objectContaining({
  type: 'page-settled',
  loaded: true,
  leftMs: null,
  hasFrames: false,
});

test('a page of an excluded site asks once it has settled, and sends nothing', async () => {
  loadEventEnd = 100;
  const mayRecord = vi.fn(async () => false);
  start(mayRecord);
  await vi.advanceTimersByTimeAsync(849);
  expect(mayRecord).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(mayRecord).toHaveBeenCalledOnce();
  expect(sent).not.toHaveBeenCalled();
  expect(observers).toBe(0);
});

test('a page settles a second after its load event has ended, without a listener that the page could remove', async () => {
  loadEventEnd = 0;
  start();
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).not.toHaveBeenCalled();
  loadEventEnd = 240;
  ofNavigation.forEach((tell) => void tell());
  await vi.advanceTimersByTimeAsync(989);
  expect(sent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.mock.calls).toEqual([[SETTLED]]);
  expect(addEventListener).not.toHaveBeenCalledWith('load', expect.anything());
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveBeenCalledOnce();
});

test('an end of the load event before that of the parsing, or of a document that is not complete, is none', async () => {
  loadEventEnd = 1;
  parsedMs = 0;
  readyState = 'interactive';
  start();
  await vi.advanceTimersByTimeAsync(900);
  parsedMs = 840;
  Object.assign(document, { readyState: 'complete' });
  ofNavigation.forEach((tell) => void tell());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).not.toHaveBeenCalled();
  loadEventEnd = 1_380;
  ofNavigation.forEach((tell) => void tell());
  await vi.advanceTimersByTimeAsync(3_000);
  expect(sent.mock.calls).toEqual([[SETTLED]]);
});

test('a page that had loaded before has settled a second after that', async () => {
  loadEventEnd = 100;
  start();
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toEqual([[SETTLED]]);
});

test('a recorder that comes long after the load leaves out what the page has requested since', async () => {
  loadEventEnd = 100;
  resources = [
    { name: 'https://page.test/a.png', startTime: 900, responseEnd: 950 },
    { name: 'https://page.test/used.png', startTime: 50_000, responseEnd: 50_010 },
  ];
  vi.stubGlobal('performance', { ...performance, now: () => 60_000 });
  start();
  await vi.advanceTimersByTimeAsync(10);
  expect(sent.mock.calls).toMatchObject([
    [{ loaded: true, timings: { resources: [{ name: 'https://page.test/a.png' }] } }],
  ]);
});

test('of a page that was there before, and has as many entries as browsers keep, nothing is reported: the others are gone', async () => {
  loadEventEnd = 100;
  const { getEntriesByType } = performance;
  const entriesOf = (count: number) => (type: string) =>
    type === 'resource' ? Array.from({ length: count }, () => ({})) : getEntriesByType(type);
  vi.stubGlobal('performance', { ...performance, getEntriesByType: entriesOf(250) });
  start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).not.toHaveBeenCalled();
  expect(findOwnRecorder()?.willReport).toBe(false);
  vi.stubGlobal('performance', { ...performance, getEntriesByType: entriesOf(249) });
  start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toHaveBeenCalledOnce();
});

test('a recorder that comes ten minutes after the load, or after a sleep, reports nothing: the network may be another one', async () => {
  loadEventEnd = 100;
  vi.setSystemTime(1e12 + 10 * 60_000 + 101);
  start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).not.toHaveBeenCalled();
  expect(findOwnRecorder()?.willReport).toBe(false);
  vi.setSystemTime(1e12 + 9 * 60_000);
  start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.mock.calls).toEqual([[SETTLED]]);
});

test('a recorder that comes after a prerendered page was shown reports nothing: it was not loaded while it was shown', async () => {
  loadEventEnd = 100;
  activationStart = 200;
  start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).not.toHaveBeenCalled();
  expect(findOwnRecorder()?.willReport).toBe(false);
});

test('a page that has not loaded in time is reported as it is, and again when it has loaded', async () => {
  loadEventEnd = 0;
  start();
  await vi.advanceTimersByTimeAsync(29_749);
  expect(sent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.mock.calls).toMatchObject([[{ type: 'page-settled', loaded: false }]]);
  expect(observers).toBe(2);
  loadEventEnd = 240;
  ofNavigation.forEach((tell) => void tell());
  await vi.advanceTimersByTimeAsync(990);
  expect(sent.mock.calls).toMatchObject([[{ loaded: false }], [{ loaded: true }]]);
  expect(observers).toBe(0);
});

test.each([
  ['before it was reported', 1_000, [], false],
  ['after it was recorded as it is', 29_750, [[expect.objectContaining({ loaded: false })]], true],
])(
  'of a page amid whose load the machine slept, %s, nothing more is reported',
  async (_words, atMs, reports, willReport) => {
    loadEventEnd = 0;
    start();
    await vi.advanceTimersByTimeAsync(atMs);
    vi.stubGlobal('performance', { ...performance, now: () => 28_800_000 });
    loadEventEnd = 28_799_000;
    ofNavigation.forEach((tell) => void tell());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.mock.calls).toEqual(reports);
    expect(findOwnRecorder()?.willReport).toBe(willReport);
    expect(observers).toBe(0);
  },
);

test('a light recording reports once the page is idle, with what was requested until it had settled', async () => {
  loadEventEnd = 100;
  isIdle = false;
  resources = [
    { name: 'https://page.test/a.png', startTime: 200, responseEnd: 300 },
    { name: 'https://page.test/late.png', startTime: 260, responseEnd: 300 },
    { name: 'chrome-extension://other/a.js', startTime: 10, responseEnd: 20 },
  ];
  start();
  await vi.advanceTimersByTimeAsync(850);
  expect(sent).not.toHaveBeenCalled();
  expect(observers).toBe(2);
  waiting.forEach((report) => void report());
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.mock.calls).toMatchObject([
    [{ type: 'page-settled', timings: { isTop: true, resources: [{ name: 'https://page.test/a.png' }] } }],
  ]);
  expect(observers).toBe(0);
});

/** The tab goes to another page. @param isTrusted false where the page dispatches the event itself */
function leave(atMs: number, isTrusted = true): void {
  vi.stubGlobal('performance', { ...performance, now: () => atMs });
  for (const [type, listener] of vi.mocked(addEventListener).mock.calls)
    if (type === 'pagehide') (listener as (event: unknown) => void)({ isTrusted });
}

test('a page that is left before it has settled reports at once what it has, and nothing later', async () => {
  loadEventEnd = 0;
  resources = [{ name: 'https://page.test/a.png', startTime: 200, responseEnd: 300 }];
  const mayRecord = vi.fn(async () => true);
  start(mayRecord);
  leave(3_500, false);
  leave(2_999);
  expect(sent).not.toHaveBeenCalled();
  leave(3_500);
  const timings = { resources: [{ name: 'https://page.test/a.png' }] };
  expect(sent.mock.calls).toMatchObject([[{ type: 'page-settled', loaded: false, leftMs: 3_500, timings }]]);
  expect(mayRecord).not.toHaveBeenCalled();
  expect(observers).toBe(0);
  // It comes from the back/forward cache, and is left again.
  loadEventEnd = 4_000;
  ofNavigation.forEach((tell) => void tell());
  await vi.advanceTimersByTimeAsync(60_000);
  leave(70_000);
  expect(sent).toHaveBeenCalledOnce();
});

test('a page that is left while it asks whether it may be recorded does not report again when it comes back', async () => {
  loadEventEnd = 100;
  let answer = (_mayRecord: boolean) => {};
  start(() => new Promise((resolve) => (answer = resolve)));
  await vi.advanceTimersByTimeAsync(850);
  leave(3_500);
  answer(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.mock.calls).toMatchObject([[{ leftMs: 3_500 }]]);
});

test('a page that is left after its load event has loaded, and one that has settled has reported', async () => {
  loadEventEnd = 3_200;
  start();
  await vi.advanceTimersByTimeAsync(0);
  leave(3_500);
  expect(sent.mock.calls).toMatchObject([[{ loaded: true, leftMs: 3_500 }]]);
  sent.mockClear();
  loadEventEnd = 100;
  start();
  await vi.advanceTimersByTimeAsync(1_000);
  leave(3_500);
  expect(sent.mock.calls).toMatchObject([[{ loaded: true, leftMs: null }]]);
});

test.each([
  ['https://page.test/a', 'https://page.test', 'https://page.test/base/', 'https://page.test/a'],
  ['about:srcdoc', 'https://page.test', 'https://elsewhere.test/', 'https://page.test'],
  ['blob:https://page.test/1', 'https://page.test', 'blob:https://page.test/1', 'https://page.test'],
  // In a sandbox.
  ['about:srcdoc', 'null', 'https://page.test/', 'https://page.test/'],
  ['data:text/html,', 'null', 'data:text/html,', 'https://referrer.test/'],
])('the document at %s of the origin %s says of which site it is', async (href, origin, baseURI, url) => {
  loadEventEnd = 100;
  vi.stubGlobal('location', { href });
  vi.stubGlobal('origin', origin);
  start();
  Object.assign(document, { baseURI, referrer: 'https://referrer.test/' });
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toMatchObject([[{ timings: { url } }]]);
});

test('a mark of the page’s own is not its first paint', async () => {
  loadEventEnd = 100;
  const ofPaint = (_name: string, type?: string) =>
    type === 'paint' ? [{ startTime: 80 }] : [{ startTime: 1 }, { startTime: 80 }];
  vi.stubGlobal('performance', { ...performance, getEntriesByName: ofPaint });
  start();
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toMatchObject([[{ timings: { firstContentfulPaint: 80 } }]]);
});

test.each([
  ['text/html', true],
  ['image/svg+xml', true],
  ['application/pdf', false],
  ['video/mp4', false],
])('the times of the navigation to a document of type %s are its own: %s', async (contentType, isOwn) => {
  loadEventEnd = 100;
  start(undefined, contentType);
  await vi.advanceTimersByTimeAsync(850);
  const navigation = isOwn ? { loadEventEnd: 100 } : null;
  expect(sent.mock.calls).toMatchObject([[{ timings: { navigation } }]]);
});

test.each([true, false])('a page reports whether it began to load in a hidden tab: %s', async (hidden) => {
  loadEventEnd = 100;
  start(undefined, undefined, hidden);
  Object.assign(document, { visibilityState: 'visible' });
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toMatchObject([[{ wasHidden: hidden }]]);
});

test('a recorder that comes once a hidden page is shown reports that it was hidden', async () => {
  loadEventEnd = 100;
  visibility = ['hidden', 'visible'];
  start();
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toMatchObject([[{ wasHidden: true }]]);
});

test.each([false, true])('a page reports whether it was hidden as it had loaded: %s', async (hidden) => {
  loadEventEnd = 0;
  start();
  await vi.advanceTimersByTimeAsync(200);
  loadEventEnd = 240;
  Object.assign(document, { hidden });
  ofNavigation.forEach((tell) => void tell());
  Object.assign(document, { hidden: true });
  await vi.advanceTimersByTimeAsync(990);
  expect(sent.mock.calls).toMatchObject([[{ wasHidden: false, endedHidden: hidden }]]);
});

test('a page reports again, a few times, where the worker stopped before it answered', async () => {
  loadEventEnd = 100;
  const stopped = async () => {
    throw new Error('A listener indicated an asynchronous response, but the message channel closed');
  };
  sent.mockImplementationOnce(stopped);
  start();
  await vi.advanceTimersByTimeAsync(850);
  expect(sent).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.mock.calls).toEqual([[SETTLED], [SETTLED]]);

  sent.mockReset().mockImplementation(stopped);
  start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveBeenCalledTimes(4);
  sent.mockReset().mockImplementation(async () => undefined);
});

test('a page whose extension was updated or removed stops', async () => {
  loadEventEnd = 100;
  sent.mockImplementationOnce(async () => {
    Reflect.deleteProperty(chrome.runtime, 'id');
    throw new Error('Extension context invalidated.');
  });
  start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveBeenCalledOnce();
  expect(observers).toBe(0);
});

test('a recorder whose frame another one takes over reports nothing', async () => {
  start();
  const earlier = findOwnRecorder()!;
  expect(earlier.isDetailed).toBe(false);
  earlier.discardAll();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).not.toHaveBeenCalled();
  expect(observers).toBe(0);
});

test('a report says when the document began by the system’s clock', async () => {
  loadEventEnd = 0;
  vi.setSystemTime(1e12 + 250 - 850 + 28_800_000);
  start();
  loadEventEnd = 100;
  await vi.advanceTimersByTimeAsync(850);
  const timings = { timeOrigin: 1e12, systemOrigin: 1e12 + 28_800_000 };
  expect(sent.mock.calls).toMatchObject([[{ timings }]]);
});
