/** The way of a load through the worker: from the report of its page to the store, its prediction and the view that asks for it. */
import type { Prediction } from '@hopwise/contract';
import { siteKey } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { ensureDecision, ensurePrediction } from '../../src/background/ensure-prediction.ts';
import { findLoad } from '../../src/background/find-load.ts';
import { eraseNetworks } from '../../src/background/network-memory.ts';
import {
  beginDetailedLoad,
  findSettledNavigation,
  NO_TAB,
  pageOf,
  type ReportingPage,
} from '../../src/background/reported-load.ts';
import { storeSettledLoad } from '../../src/background/store-load.ts';
import { TabLoads } from '../../src/background/tab-loads.ts';
import { findPinOutcomes } from '../../src/evidence/pin-outcomes.ts';
import type { PinPeriod } from '../../src/evidence/pin-period.ts';
import { judgeLoad } from '../../src/load/load-quality.ts';
import type { ObservedRequest } from '../../src/recorder/observed-request.ts';
import type { FrameTimings } from '../../src/recorder/page-timings.ts';
import { getAllLoads, removeLoads, updateLoad } from '../../src/storage/loads.ts';
import { loadNetworkMemory } from '../../src/storage/network.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const TAB = 1;
const PAGE = 'https://page.test/';

/** The page's answers to requests for its timings, one for each recording. */
let answers: (() => Promise<FrameTimings | undefined>)[];
let asked: unknown[];
let loads: TabLoads;
let shownUrl: string | undefined;
/** What the tab's document tells of itself; null where the extension has no access. */
let shownPage: { timeOrigin: number; willReport: boolean; isStopped?: boolean } | null;
let isPageBusy: boolean;
let tabStatus: string;
let browserLanguage: string;

beforeEach(() => {
  answers = [];
  asked = [];
  shownUrl = PAGE;
  shownPage = null;
  isPageBusy = false;
  tabStatus = 'loading';
  browserLanguage = 'en-GB';
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => browserLanguage },
    permissions: { contains: async () => true },
    runtime: { getURL: (path: string) => path },
    storage: { session: new StubbedStorage() },
    scripting: {
      executeScript: async () => {
        if (isPageBusy) await new Promise(() => undefined);
        if (shownPage === null) throw new Error('Cannot access contents of the page.');
        return [{ result: shownPage }];
      },
    },
    tabs: {
      query: async () => [],
      get: async () => {
        if (shownUrl === 'closed') throw new Error('No tab with id: 1.');
        return { url: shownUrl, active: true, status: tabStatus };
      },
      sendMessage: (_tabId: number, _message: unknown, to: unknown) => {
        asked.push(to);
        return answers.shift()!();
      },
    },
  });
  vi.stubGlobal('fetch', fetchMessages);
  loads = new TabLoads();
});

const periodOf = (kind: PinPeriod['kind'], more: Partial<PinPeriod> = {}): PinPeriod => ({
  origin: new URL(PAGE).origin,
  kind,
  allowsLocal: false,
  sinceMs: 0,
  endedMs: null,
  ...more,
});

/** By the browser. */
const pageNow = (more: Partial<ReportingPage> = {}): ReportingPage => ({
  tabId: TAB,
  url: PAGE,
  documentId: 'doc',
  timeOrigin: startedAt,
  leftMs: null,
  ...more,
});

/** The page in the tab reports that it has settled. @param sent what it measured by then */
async function settle(
  loaded: boolean,
  pins: readonly PinPeriod[] = [],
  sent = timings(0),
  page = pageNow(),
  hidden: { wasHidden?: boolean; endedHidden?: boolean } = {},
): Promise<void> {
  shownPage = { timeOrigin: page.timeOrigin, willReport: true };
  const navigationId = await findSettledNavigation(loads, page);
  const report = { loaded, hasFrames: false, wasHidden: false, ...hidden, timings: sent };
  if (navigationId === null) return;
  await storeSettledLoad(loads, { page, navigationId, settled: report, periods: pins });
}

/** A navigation of a page that is recorded in detail. */
function navigate(id: string, more: Partial<ObservedRequest> = {}): void {
  loads.addRequest(TAB, navigation(id, more));
  loads.updateLoad(TAB, id, { isDetailed: true });
}

/** When the last navigation began. */
let startedAt = 0;

function navigation(requestId: string, more: Partial<ObservedRequest> = {}): ObservedRequest {
  startedAt = Date.now();
  return {
    requestId,
    url: PAGE,
    method: 'GET',
    type: 'document',
    frameId: 0,
    parentFrameId: -1,
    documentId: null,
    parentDocumentId: null,
    startedAt,
    sent: true,
    headersAt: startedAt + 10,
    endedAt: startedAt + 20,
    status: 200,
    failedOver: null,
    remoteIp: '9.9.9.1',
    fromCache: false,
    referrer: null,
    credentials: true,
    offersH3: false,
    contentLength: null,
    redirected: false,
    internal: false,
    ...more,
  };
}

function timings(loadEventEnd: number): FrameTimings {
  return {
    url: PAGE,
    isTop: true,
    timeOrigin: startedAt,
    navigation: {
      name: PAGE,
      initiatorType: 'navigation',
      startTime: 0,
      workerStart: 0,
      fetchStart: 1,
      domainLookupStart: 1,
      domainLookupEnd: 1,
      connectStart: 1,
      secureConnectionStart: 1,
      connectEnd: 1,
      requestStart: 2,
      responseStart: 10,
      responseEnd: 20,
      transferSize: 1300,
      encodedBodySize: 1000,
      decodedBodySize: 1000,
      nextHopProtocol: 'h2',
      renderBlockingStatus: '',
      deliveryType: '',
      responseStatus: 0,
      domInteractive: 30,
      domContentLoadedEventEnd: 31,
      loadEventEnd,
    },
    firstContentfulPaint: null,
    largestContentfulPaint: null,
    largestContentfulPaintUrl: null,
    resources: [],
    scriptRuns: [],
  };
}

test('the recording of a page that has not loaded in time is replaced when it has loaded', async () => {
  const before = (await getAllLoads()).length;
  navigate('slow');
  let release = () => {};
  answers = [
    () => new Promise((resolve) => (release = () => resolve(timings(0)))),
    async () => timings(40_000),
  ];
  const early = settle(false);
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  const whole = settle(true);
  release();
  await Promise.all([early, whole]);
  const answer = await findLoad(loads, { tabId: TAB });
  expect(answer).toMatchObject({ phase: 'recorded', problem: '', load: { recording: { pltMs: 40_000 } } });
  expect(await getAllLoads()).toHaveLength(before + 1);
  expect(asked).toEqual([{ documentId: 'doc' }, { documentId: 'doc' }]);
});

test('a light recording takes the timings from the report, a detailed one asks for those after the last request', async () => {
  loads.addRequest(TAB, navigation('light'));
  await settle(true, [], timings(700));
  expect(asked).toEqual([]);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ load: { recording: { pltMs: 700 } } });
  navigate('detailed');
  answers = [async () => timings(800)];
  await settle(true, [], timings(790));
  expect(asked).toHaveLength(1);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ load: { recording: { pltMs: 800 } } });
});

test.each([
  [{}, 'full'],
  [{ wasHidden: true }, 'background'],
  [{ endedHidden: true }, 'background'],
])('a load in a tab that was hidden (%o) is %s, although the tab is shown by now', async (hidden, kind) => {
  startedAt = Date.now() - 900;
  await settle(true, [], timings(700), pageNow(), hidden);
  expect(judgeLoad((await getAllLoads()).at(-1)!).kind).toBe(kind);
});

test('an error that the page has always been answered with is the page', async () => {
  for (const id of ['1', '2', '3', '4']) {
    navigate(id, { status: 404 });
    answers = [async () => timings(700)];
    await settle(true, [], timings(700));
  }
  expect((await getAllLoads()).map((load) => judgeLoad(load).kind)).toEqual([
    'error',
    'error',
    'error',
    'full',
  ]);
});

test.for([
  ['the page shows them', 0, [4]],
  ['the next page shows them', 1_200, []],
] as const)('a light recording asks the frames that are there where %s', async ([, laterMs, asksFrames]) => {
  startedAt = Date.now() - 900;
  const page = pageNow({ documentId: 'framed' });
  const inject = async ({ files }: { files?: string[] }) =>
    files ? [{ frameId: 0 }, { frameId: 4 }] : [{ result: { timeOrigin: startedAt + laterMs } }];
  vi.stubGlobal('chrome', { ...chrome, scripting: { executeScript: inject } });
  answers = [async () => undefined];
  const navigationId = (await findSettledNavigation(loads, page))!;
  const report = { loaded: true, hasFrames: true, wasHidden: false, timings: timings(700) };
  await storeSettledLoad(loads, { page, navigationId, settled: report, periods: [] });
  expect(await loads.getLoad(TAB)).toMatchObject({ phase: 'recorded' });
  expect(asked).toEqual(asksFrames.map((frameId) => ({ frameId })));
});

test('a load whose navigation was not listened to is recorded by its page’s report alone', async () => {
  startedAt = Date.now() - 900;
  await settle(true, [], timings(700), pageNow({ documentId: 'first' }));
  const { load: first } = await findLoad(loads, { tabId: TAB });
  expect(first).toMatchObject({ requestedUrl: PAGE, isDetailed: false, recording: { pltMs: 700 } });
  expect(first!.recording.requests).toMatchObject([
    { type: 'document', url: PAGE, status: 200, protocol: 'h2', startMs: 1, endMs: 20, remoteIp: null },
  ]);
  expect(asked).toEqual([]);
  // The next document in the tab has not reported yet, or was there before the extension.
  shownPage = { timeOrigin: startedAt + 800, willReport: true };
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading', load: null });
  shownPage.willReport = false;
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none', load: null });
  // Where a page does not answer, the tab shows whether it has loaded.
  isPageBusy = true;
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading', load: null });
  tabStatus = 'complete';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded', loadId: first!.id });
  isPageBusy = false;
  // Without an id of the document, as in Firefox.
  startedAt += 800;
  await settle(true, [], timings(500), pageNow({ documentId: '' }));
  const { load: second } = await findLoad(loads, { tabId: TAB });
  expect(second).toMatchObject({ recording: { pltMs: 500 } });
  expect(second!.id).not.toBe(first!.id);
});

test('of a page that did not load, or that the browser protects from extensions, the answer says so', async () => {
  const outOfReach = {
    phase: 'failed',
    problem: 'hopwise does not reach this page: it did not load, or the browser protects it from extensions.',
  };
  // Its navigation is under way.
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none' });
  tabStatus = 'complete';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject(outOfReach);
  navigate('in a viewer');
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject(outOfReach);
  // A page of the browser, or of a site to which there is no access.
  shownUrl = '';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading' });
});

test('a page whose load was stopped is not said to be measured until its report after half a minute', async () => {
  startedAt = Date.now() - 900;
  shownPage = { timeOrigin: startedAt, willReport: true };
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading' });
  shownPage.isStopped = true;
  tabStatus = 'complete';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none', load: null });
  loads.addRequest(TAB, navigation('stopped'));
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none', load: null });
  // The page still shows while the next one is requested.
  tabStatus = 'loading';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading', load: null });
  await settle(false);
  tabStatus = 'complete';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ load: { recording: { pltMs: null } } });
});

test.for([
  ['an empty answer', { status: 204 }],
  ['a download', { status: 200 }],
  ['a navigation that was stopped', { status: 0 }],
] as const)('after %s the tab still has the load of the page that it shows', async ([, end]) => {
  startedAt = Date.now() - 900;
  await settle(true, [], timings(700));
  const page = shownPage;
  const { loadId } = await findLoad(loads, { tabId: TAB });
  for (const id of ['once', 'again']) {
    tabStatus = 'loading';
    loads.addRequest(TAB, navigation(id, { url: `${PAGE}none` }));
    expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading', load: null });
    loads.updateRequest(TAB, id, { ...end, endedAt: Date.now() });
    expect(await findLoad(loads, { tabId: TAB })).not.toMatchObject({ phase: 'failed' });
    tabStatus = 'complete';
    expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded', loadId });
  }
  expect(loadId).not.toBeNull();
  // Another page, of which nothing is known.
  shownPage = { ...page!, timeOrigin: startedAt + 400, willReport: false };
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ load: null });
});

test('a page that has just sent its report is loading', async () => {
  startedAt = Date.now() - 900;
  const page = pageNow({ documentId: 'reporting' });
  const execute = async () => {
    void findSettledNavigation(loads, page);
    return [{ result: { timeOrigin: startedAt, willReport: false } }];
  };
  vi.stubGlobal('chrome', { ...chrome, scripting: { executeScript: execute } });
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading' });
});

test('a page that is observed from its start on has its requests from then on, not those before', async () => {
  startedAt = Date.now() - 900;
  await beginDetailedLoad(loads, pageNow());
  shownPage = { timeOrigin: startedAt, willReport: true };
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading' });
  const script = navigation('script', { url: `${PAGE}a.js`, type: 'script' });
  startedAt -= 900;
  loads.addRequest(TAB, script);
  answers = [async () => timings(700)];
  await settle(true);
  const { load } = await findLoad(loads, { tabId: TAB });
  expect(load).toMatchObject({ isDetailed: true, recording: { pltMs: 700 } });
  expect(load!.recording.requests.map(({ type, remoteIp }) => [type, remoteIp])).toEqual([
    ['document', null],
    ['script', '9.9.9.1'],
  ]);
});

test('a load is stored with the network summary of the loads before it, and is learned once', async () => {
  for (const id of ['first', 'second']) {
    navigate(id);
    answers = [async () => timings(0), async () => timings(40_000)];
    await settle(false);
    await settle(true);
    const { load } = await findLoad(loads, { tabId: TAB });
    expect(load?.cluster?.loads).toBe(id === 'first' ? undefined : 1);
  }
  expect((await ownStorage.get('networks')).networks).toMatchObject({
    '': { sites: { 'page.test': { loads: 2 } } },
  });
});

test('a page too busy to answer is recorded as it reported', async () => {
  navigate('busy');
  answers = [async () => undefined, async () => timings(31_000)];
  await settle(false);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'loading',
    load: { recording: { pltMs: null } },
  });
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'recorded',
    problem: '',
    load: { recording: { pltMs: 31_000 } },
  });
});

test('a download that begins while a page loads is not recorded as that page', async () => {
  const before = (await getAllLoads()).length;
  navigate('page');
  loads.addRequest(TAB, navigation('download', { url: `${PAGE}file.zip`, status: 0 }));
  await settle(true);
  expect(asked).toEqual([]);
  expect(await getAllLoads()).toHaveLength(before);
  browserLanguage = 'de-DE';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem: 'Die letzte Navigation hat keine Seite geladen. Seite neu laden, um sie aufzuzeichnen.',
  });
});

test('a page that stays, as a navigation amid its load was a download, is recorded by its report alone', async () => {
  startedAt = Date.now() - 2_000;
  const page = pageNow();
  const sent = timings(700);
  const download = navigation('download', { url: `${PAGE}file.zip` });
  loads.addRequest(TAB, download);
  expect(await findSettledNavigation(loads, page, `${PAGE}file.zip#redirected`)).toBe('download');
  expect(await findSettledNavigation(loads, pageNow({ timeOrigin: startedAt }), PAGE)).toBe('download');
  await settle(true, [], sent, page);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'recorded',
    load: { requestedUrl: PAGE, isDetailed: false, recording: { pltMs: 700, requests: [{ url: PAGE }] } },
  });
});

test('what a page says in the name of another site is dropped with a note', async () => {
  const before = (await getAllLoads()).length;
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  navigate('page');
  // By the browser it is another page that speaks, such as the one before.
  expect(await findSettledNavigation(loads, pageNow({ url: 'https://other.test/' }))).toBeNull();
  expect((await findLoad(loads, { tabId: TAB })).phase).toBe('loading');
  // It is the page, which names another one.
  answers = [async () => ({ ...timings(900), url: 'https://bank.example/' })];
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem: 'This page could not be recorded: its report names another site than the browser does.',
  });
  browserLanguage = 'de-DE';
  answers = [async () => ({ ...timings(900), url: 'https://bank.example/' })];
  navigate('german');
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    problem:
      'Diese Seite ließ sich nicht aufzeichnen: ihr Bericht nennt eine andere Website als der Browser.',
  });
  browserLanguage = 'en-GB';
  expect(await getAllLoads()).toHaveLength(before);
  expect(warn.mock.calls.map(([text]) => text)).toEqual([
    'hopwise: dropped 1 report from another site than the tab shows, the last of',
    'hopwise: dropped 2 reports from another site than the tab shows, the last of',
    'hopwise: dropped 3 reports from another site than the tab shows, the last of',
  ]);
  // Within its site a page may show another URL; it is recorded by the one that was loaded.
  answers = [async () => ({ ...timings(900), url: `${PAGE}pushed` })];
  navigate('again');
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    load: { recording: { url: PAGE } },
  });
});

test('a page is recorded by its report where the answer to its navigation was not reported', async () => {
  // As where the extension stops listening in between.
  navigate('left', { headersAt: null, endedAt: null, status: 0 });
  expect(await findSettledNavigation(loads, pageNow({ timeOrigin: startedAt - 1000 }))).toBeNull();
  expect((await findLoad(loads, { tabId: TAB })).phase).toBe('loading');
  answers = [async () => timings(900)];
  await settle(true, [], timings(900), pageNow({ timeOrigin: startedAt - 5 }));
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded', problem: '' });
});

test('a page that began after the answer to the last navigation that was seen is another load', async () => {
  // As where the extension stops listening in between.
  navigate('slow');
  const next = pageNow({ documentId: '', url: `${PAGE}next`, timeOrigin: startedAt + 4_000 });
  expect(await findSettledNavigation(loads, next)).toBe(`${startedAt + 4_000}`);
  expect(await loads.getLoad(TAB)).toMatchObject({ url: `${PAGE}next`, requests: [] });
  navigate('page');
  expect(await findSettledNavigation(loads, pageNow({ documentId: '', timeOrigin: startedAt + 20 }))).toBe(
    'page',
  );
});

test('a page whose navigation was seen is recorded when it is left before it has reported', async () => {
  navigate('left');
  const at = startedAt;
  const request = (path: string, more: Partial<ObservedRequest>) =>
    loads.addRequest(TAB, { ...navigation(path, more), type: 'image', url: PAGE + path });
  request('came.png', {});
  const unanswered = { headersAt: null, status: 0 };
  request('failed.png', { ...unanswered, endedAt: at + 1_000 });
  request('aborted.png', { ...unanswered, endedAt: at + 3_990 });
  request('open.png', { ...unanswered, endedAt: null });
  const page = pageNow({ documentId: '', timeOrigin: at - 5, leftMs: 4_000 });
  const navigationId = (await findSettledNavigation(loads, page))!;
  expect(navigationId).toBe('left');
  const settled = { loaded: false, hasFrames: false, wasHidden: false, timings: timings(0) };
  const left = await loads.getLoad(TAB);
  await storeSettledLoad(loads, { page, navigationId, settled, periods: [], left });
  const { requests } = (await getAllLoads()).at(-1)!.recording;
  expect(requests.map(({ url }) => url)).toEqual([PAGE, `${PAGE}came.png`, `${PAGE}failed.png`]);
});

test('a page that reports again, as it does not know that its load is stored, is not recorded twice', async () => {
  navigate('page');
  loads.updateRequest(TAB, 'page', { headersAt: startedAt + 10, endedAt: startedAt + 20, status: 200 });
  answers = [async () => timings(900)];
  const page = pageNow({ timeOrigin: startedAt });
  const before = (await getAllLoads()).length;
  await settle(true, [], timings(900), page);
  expect(await getAllLoads()).toHaveLength(before + 1);
  expect(await findSettledNavigation(loads, page)).toBeNull();
  // As a captured page may, which can also say that it begins to be observed.
  const forged = { ...page, timeOrigin: startedAt + 5000 };
  expect(await findSettledNavigation(loads, forged)).toBeNull();
  await beginDetailedLoad(loads, forged);
  expect(await findSettledNavigation(loads, forged)).toBeNull();
  // The next document of the tab is another load.
  expect(await findSettledNavigation(loads, { ...page, documentId: 'next' })).not.toBeNull();
});

test('a page that is left is recorded as far as it came, without what was cancelled', async () => {
  const before = (await getAllLoads()).length;
  const { navigation: entry } = timings(0);
  const { domInteractive: _1, domContentLoadedEventEnd: _2, loadEventEnd: _3, ...times } = entry!;
  const more = { initiatorType: 'img', maker: null };
  const resources = [
    { ...times, ...more, name: `${PAGE}came.png` },
    { ...times, ...more, name: `${PAGE}cancelled.png`, responseStart: 0, nextHopProtocol: '' },
    { ...times, ...more, name: `${PAGE}of-worker.png`, responseStatus: 200, nextHopProtocol: '' },
    { ...times, ...more, name: 'https://cdn.test/came.png', responseStart: 0, responseEnd: 3_000 },
    { ...times, ...more, name: 'https://cdn.test/cancelled.png', responseStart: 0, responseEnd: 3_990 },
  ];
  const left = pageNow({ documentId: 'left', leftMs: 4_000 });
  // An end of a load event that has not fired is none.
  await settle(false, [], { ...timings(900), resources }, left);
  expect(asked).toEqual([]);
  const [load] = (await getAllLoads()).slice(before);
  expect(load!.recording.pltMs).toBeNull();
  expect(load!.recording.requests.map(({ url }) => url)).toEqual([
    PAGE,
    `${PAGE}came.png`,
    `${PAGE}of-worker.png`,
    'https://cdn.test/came.png',
  ]);
  // It is stored once.
  expect(await findSettledNavigation(loads, left)).toBeNull();
  expect(Object.keys((await loadNetworkMemory()).sites)).toEqual([siteKey(PAGE)]);
});

test('a page that is left is recorded although the tab shows the one before it by then', async () => {
  const before = (await getAllLoads()).length;
  const page = pageNow({ documentId: 'left', leftMs: 4_000 });
  const navigationId = (await findSettledNavigation(loads, page))!;
  const left = await loads.getLoad(TAB);
  loads.markShownWithoutLoad(TAB, startedAt - 5_000);
  const report = { loaded: false, hasFrames: false, wasHidden: false, timings: timings(0) };
  await storeSettledLoad(loads, { page, navigationId, settled: report, periods: [], left });
  expect(await getAllLoads()).toHaveLength(before + 1);
  expect(await loads.getLoad(TAB)).toMatchObject({ phase: 'shown' });
});

test('a page that is left after it was recorded as it was is not recorded anew', async () => {
  const page = pageNow({ documentId: 'endless' });
  await settle(false, [], timings(0), page);
  const [stored] = (await getAllLoads()).slice(-1);
  const { navigation: entry } = timings(0);
  const { domInteractive: _1, domContentLoadedEventEnd: _2, loadEventEnd: _3, ...times } = entry!;
  const resources = [{ ...times, initiatorType: 'fetch', maker: null, name: `${PAGE}poll` }];
  await settle(false, [], { ...timings(0), resources }, { ...page, leftMs: 900_000 });
  expect((await getAllLoads()).slice(-1)).toEqual([stored]);
  expect(await loads.getLoad(TAB)).toMatchObject({ phase: 'recorded', storedId: stored!.id });
  expect(Object.keys((await loadNetworkMemory()).sites)).toEqual([siteKey(PAGE)]);
});

test('a light recording asks the frames that the page does not count, as they are in its shadow trees', async () => {
  startedAt = Date.now() - 900;
  const { navigation: entry } = timings(0);
  const { domInteractive: _1, domContentLoadedEventEnd: _2, loadEventEnd: _3, ...times } = entry!;
  const resources = [{ ...times, initiatorType: 'iframe', maker: null, name: `${PAGE}frame` }];
  const inject = async ({ files }: { files?: string[] }) =>
    files ? [{ frameId: 0 }, { frameId: 4 }] : [{ result: { timeOrigin: startedAt } }];
  vi.stubGlobal('chrome', { ...chrome, scripting: { executeScript: inject } });
  answers = [async () => undefined];
  const page = pageNow({ documentId: 'shadow' });
  const navigationId = (await findSettledNavigation(loads, page))!;
  const report = { loaded: true, hasFrames: false, wasHidden: false };
  const settled = { ...report, timings: { ...timings(700), resources } };
  await storeSettledLoad(loads, { page, navigationId, settled, periods: [] });
  expect(asked).toEqual([{ frameId: 4 }]);
});

test('a page that its tab no longer shows reports that it is left, and nothing else', async () => {
  const tab = { id: TAB } as chrome.tabs.Tab;
  const url = `${PAGE}#part`;
  const shown = { tab, frameId: 0, url, documentId: 'doc', documentLifecycle: 'active' } as const;
  const page = { tabId: TAB, url: PAGE, documentId: 'doc', timeOrigin: 5, leftMs: null };
  expect(pageOf(shown, 5)).toEqual(page);
  expect(pageOf(shown, 5, 4_000)).toEqual({ ...page, leftMs: 4_000 });
  // A frame of a page that is there.
  const frame = { ...shown, frameId: 7 };
  expect(pageOf(frame, 5)).toBeNull();
  expect(pageOf(frame, 5, 4_000)).toBeNull();
  // Chromium, where the next page is in another process or was in the back/forward cache.
  const replaced = { ...frame, documentLifecycle: 'cached' } as const;
  expect(pageOf(replaced, 5)).toBeNull();
  expect(pageOf(replaced, 5, 4_000)).toEqual({ ...page, leftMs: 4_000 });
  // Firefox, where the tab was closed.
  const closed = { url };
  expect(pageOf(closed, 5)).toBeNull();
  expect(pageOf(closed, 5, 31_000)).toBeNull();
  const left = pageOf(closed, startedAt, 4_000)!;
  expect(left).toEqual({ tabId: NO_TAB, url: PAGE, documentId: '', timeOrigin: startedAt, leftMs: 4_000 });
  for (const began of [startedAt, startedAt - 900]) {
    const navigationId = await findSettledNavigation(loads, { ...left, timeOrigin: began });
    expect(navigationId).toBe(`${began}`);
  }
});

test('a page of an excluded site that is left is not recorded', async () => {
  const before = (await getAllLoads()).length;
  loads.excludedSites.replaceSites([new URL(PAGE).hostname]);
  await settle(false, [], timings(0), pageNow({ documentId: 'left', leftMs: 4_000 }));
  expect(await getAllLoads()).toHaveLength(before);
});

test('a page that is left has no part in the load of the page that follows it', async () => {
  const left = pageNow({ documentId: 'left', leftMs: 4_000 });
  navigate('next', { startedAt: startedAt + 4_000 });
  expect(await findSettledNavigation(loads, left)).toBeNull();
  // The same where the page that follows has reported first.
  await settle(true, [], timings(900), pageNow({ documentId: 'next', timeOrigin: startedAt + 4_000 }));
  expect(await findSettledNavigation(loads, left)).toBeNull();
});

test('a load that a stop of the worker interrupted is joined without query strings', async () => {
  const image = (id: string) => `${PAGE}${id}.png?secret-${id}`;
  navigate('page', { url: `${PAGE}?secret` });
  const navigatedAt = startedAt;
  const more = { type: 'image', remoteIp: '9.9.9.2' } as const;
  loads.addRequest(TAB, navigation('a', { ...more, url: image('a') }));
  const inSession = async () => JSON.stringify(await chrome.storage.session.get(null));
  await vi.waitFor(async () => expect(await inSession()).toContain('a.png'), { timeout: 60_000 });
  loads = new TabLoads();
  loads.addRequest(TAB, navigation('b', { ...more, url: image('b') }));
  startedAt = navigatedAt;
  const page = timings(900);
  const { domInteractive: _1, domContentLoadedEventEnd: _2, loadEventEnd: _3, ...entry } = page.navigation!;
  const resources = ['a', 'b'].map((id) => ({
    ...entry,
    name: image(id),
    initiatorType: 'img',
    maker: null,
  }));
  answers = [async () => ({ ...page, url: `${PAGE}?secret`, resources })];
  await settle(true);
  const { load, canExportQueries } = await findLoad(loads, { tabId: TAB });
  const stored = load!.recording.requests.map(({ url, remoteIp, protocol }) => [url, remoteIp, protocol]);
  expect(stored).toEqual([
    [`${PAGE}?1`, '9.9.9.1', 'h2'],
    [`${PAGE}a.png?2`, '9.9.9.2', 'h2'],
    [`${PAGE}b.png?3`, '9.9.9.2', 'h2'],
  ]);
  expect(JSON.stringify(load)).not.toContain('secret');
  // No tab shows the page any more that knows them.
  expect(canExportQueries).toBe(false);
});

test('a page that loads while the one before it waits to be stored is recorded all the same', async () => {
  navigate('before');
  const before = (await findSettledNavigation(loads, pageNow()))!;
  navigate('next');
  const report = { loaded: true, hasFrames: false, wasHidden: false, timings: timings(0) };
  await storeSettledLoad(loads, { page: pageNow(), navigationId: before, settled: report, periods: [] });
  expect(asked).toEqual([]);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'loading', problem: '' });
  answers = [async () => timings(900)];
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded' });
});

test('a page shown without a load does not get the load of another page', async () => {
  navigate('page');
  answers = [async () => timings(900)];
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded' });
  // The browser hides the URL of its own pages, and lets no extension into them.
  shownUrl = undefined;
  const page = shownPage;
  shownPage = null;
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none', load: null });
  shownUrl = 'closed';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'none', load: null });
  shownUrl = PAGE;
  shownPage = page;
  loads.markShownWithoutLoad(TAB, startedAt);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem: expect.stringContaining('Reload the page'),
    load: null,
  });
  browserLanguage = 'de-DE';
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    problem: expect.stringMatching(
      /^Der Browser hat diese Seite gezeigt, ohne sie dabei zu laden: .* neu laden\.$/,
    ),
  });
});

test('why nothing is recorded is said in the language of the browser', async () => {
  browserLanguage = 'de-DE';
  answers = [async () => timings(900)];
  navigate('page');
  await settle(true);
  await removeLoads(() => true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem: 'Diese Aufzeichnung ist nicht mehr gespeichert. Seite neu laden, um sie erneut aufzuzeichnen.',
  });
  loads.excludedSites.replaceSites([new URL(PAGE).hostname]);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem:
      'Diese Website ist ausgeschlossen: hopwise zeichnet dort nichts auf. Die Einstellungen von hopwise zeigen, welche Websites ausgeschlossen sind.',
  });
});

test('a page without times of its navigation is not recorded', async () => {
  browserLanguage = 'de-DE';
  answers = [async () => ({ ...timings(900), navigation: null })];
  navigate('page');
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({
    phase: 'failed',
    problem: 'Diese Seite ließ sich nicht aufzeichnen: die Seite hat keine Zeiten der Navigation gemeldet.',
  });
});

test('a recording includes what the browser reports of a request only after the page has settled', async () => {
  navigate('late', { endedAt: null, remoteIp: null });
  answers = [async () => timings(900)];
  const storing = settle(true);
  setTimeout(() => loads.updateRequest(TAB, 'late', { endedAt: Date.now(), remoteIp: '9.9.9.7' }), 100);
  await storing;
  const { load } = await findLoad(loads, { tabId: TAB });
  expect(load?.recording.requests[0]?.remoteIp).toBe('9.9.9.7');
});

test('a page that answers under a second frame id too is recorded once', async () => {
  navigate('page');
  const image = navigation('image', { url: `${PAGE}a.png`, type: 'image' });
  loads.addRequest(TAB, image);
  loads.addRequest(TAB, navigation('other', { url: `${PAGE}b.png`, type: 'image', frameId: 7 }));
  const page = timings(900);
  const entry = {
    ...page.navigation!,
    name: image.url,
    initiatorType: 'img',
    transferSize: 300,
    maker: null,
  };
  page.resources = [entry];
  answers = [async () => page, async () => page];
  await settle(true);
  expect(asked).toEqual([{ documentId: 'doc' }, { frameId: 7 }]);
  const { load } = await findLoad(loads, { tabId: TAB });
  expect(load?.recording.requests.filter(({ url }) => url === image.url)).toHaveLength(1);
});

test('a recording does not wait long for a request that stays open', async () => {
  navigate('open');
  loads.addRequest(TAB, navigation('stream', { type: 'fetch', url: `${PAGE}events`, endedAt: null }));
  answers = [async () => timings(900)];
  await settle(true);
  expect(await findLoad(loads, { tabId: TAB })).toMatchObject({ phase: 'recorded' });
});

test('requests through the helper are recorded as they went over the network', async () => {
  navigate('pinned');
  answers = [async () => timings(900)];
  await settle(true, [periodOf('h3')]);
  const { load } = await findLoad(loads, { tabId: TAB });
  expect(load?.recording.requests[0]).toMatchObject({ protocol: 'h3', remoteIp: null });
});

async function storeLoad(
  id: string,
  pltMs: number,
  more: Partial<ObservedRequest> = {},
  pins: readonly PinPeriod[] = [],
) {
  loads.addRequest(TAB, navigation(id, more));
  await settle(true, pins, timings(pltMs));
  return findLoad(loads, { tabId: TAB });
}

test('a load from the cache does not replace the last full load', async () => {
  const full = await storeLoad('full', 900);
  expect(full).toMatchObject({ incomplete: null, load: { recording: { pltMs: 900 } } });
  const again = await storeLoad('cached', 90, { fromCache: true, remoteIp: null });
  expect(again).toMatchObject({
    loadId: full.loadId,
    load: { recording: { pltMs: 900 } },
    incomplete: { kind: 'cached', networkRequests: 0, requests: 1, isReplaced: true },
  });
});

test('a load from the cache is shown where there is no full one', async () => {
  await eraseNetworks();
  await removeLoads(() => true);
  expect(await storeLoad('cached', 90, { fromCache: true, remoteIp: null })).toMatchObject({
    load: { recording: { pltMs: 90 } },
    incomplete: { kind: 'cached', isReplaced: false },
  });
});

test('a load is stored with the protocols that its pins held it to', async () => {
  expect((await storeLoad('pinned', 900, {}, [periodOf('avoid-h3')])).load?.pinned).toEqual({
    'https://page.test': 'h2',
  });
  expect((await storeLoad('unpinned', 900)).load?.pinned).toEqual({});
});

test.each([
  ['a public address', '9.9.9.9', false, 'internet'],
  ['a private address that the user has allowed', '192.168.1.9', true, 'unknown'],
])('loads before and after a pin are compared, of %s', async (_words, remoteIp, allowsLocal, network) => {
  await eraseNetworks();
  await removeLoads(() => true);
  const pin = { origin: new URL(PAGE).origin, kind: 'avoid-h3' as const };
  await storeLoad('before', 900, { remoteIp });
  const periods = [periodOf('avoid-h3', { allowsLocal })];
  const { load } = await storeLoad('after', 300, { remoteIp: '127.0.0.1' }, periods);
  expect(load?.network).toBe(network);
  expect(findPinOutcomes([pin], await getAllLoads())).toMatchObject([
    { ...pin, beforeMs: 900, afterMs: 300, beforeLoads: 1, afterLoads: 1 },
  ]);
});

test('the prediction of an earlier version, which has no decision, is made again', async () => {
  const { load } = await storeLoad('old', 900);
  const old = await updateLoad(load!.id, { prediction: { page: {} } as Prediction });
  expect((await ensurePrediction(old)).prediction?.decision.verdict).toMatch(/./);
});

test('a prediction of another version is made again', async () => {
  const { load } = await storeLoad('renamed', 900);
  const now = await ensurePrediction(load!);
  expect(await ensurePrediction(now)).toBe(now);
  const { schema: _, ...without } = now.prediction!;
  const decision = { ...without.decision, verdict: 'Hold it' };
  const old = await updateLoad(load!.id, { prediction: { ...without, decision } as Prediction });
  expect((await ensurePrediction(old)).prediction!.decision).toEqual(now.prediction!.decision);
});

test('a prediction is made again in the language of the user interface', async () => {
  const { load } = await storeLoad('english', 900);
  const english = await ensurePrediction(load!);
  expect(english).toMatchObject({ language: 'en' });
  browserLanguage = 'de-AT';
  const german = await ensurePrediction(english);
  expect(german.language).toBe('de');
  expect(german.prediction!.decision.action).toEqual(english.prediction!.decision.action);
  expect(german.prediction!.decision.verdict).not.toBe(english.prediction!.decision.verdict);
  expect(await ensurePrediction(german)).toBe(german);
});

test('why a load has no prediction is said in the language of the user interface', async () => {
  const { load } = await storeLoad('lossy', 900);
  browserLanguage = 'de-AT';
  const check = { loss: { events: 99_900, lost: 99_900, packets: 100_000, isRandom: true } };
  const { recording } = load!;
  const large = { ...recording.requests[0]!, transferBytes: 50e6, bodyBytes: 50e6, type: 'image' as const };
  const requests = [
    recording.requests[0]!,
    ...Array.from({ length: 20 }, (_, id) => ({ ...large, id: id + 1 })),
  ];
  const lossy = { ...load!, recording: { ...recording, requests }, check };
  expect(await ensurePrediction(lossy)).toMatchObject({
    prediction: null,
    problem: expect.stringMatching(
      /^Dieser Ladevorgang wurde aufgezeichnet, ließ sich aber nicht vorhersagen: die Seite lädt in diesem Netz nicht: kein Load-Event nach \d+ s\.$/,
    ),
  });
});

test('what acts on a load has its decision alone; who looks at it has the waterfalls too', async () => {
  const { load } = await storeLoad('decided', 900);
  const [decided, alike] = await Promise.all([ensureDecision(load!), ensureDecision(load!)]);
  expect(decided.prediction!.waterfall).toEqual({});
  expect(alike).toBe(decided);
  browserLanguage = 'de-AT';
  expect(await ensureDecision(decided)).toBe(decided);
  const [shown, again] = await Promise.all([ensurePrediction(decided), ensureDecision(load!)]);
  expect(Object.keys(shown.prediction!.waterfall)).not.toEqual([]);
  expect(shown.prediction!.decision.action).toEqual(decided.prediction!.decision.action);
  expect(again).toBe(shown);
  expect(await ensureDecision(shown)).toBe(shown);
});

test('a prediction uses the earlier loads of the page', async () => {
  await removeLoads(() => true);
  for (const id of ['1', '2', '3']) await storeLoad(id, 900);
  const { load } = await storeLoad('4', 900);
  const { prediction } = await ensurePrediction(load!);
  expect(prediction!.decision.evidence).toContainEqual({
    kind: 'loads',
    text: '3 measured loads by the browser itself took 900 ms.',
  });
  expect(prediction!.decision.baseline).toMatchObject({ pltMs: 900, measured: true });
});
