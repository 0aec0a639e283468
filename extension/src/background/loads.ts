import { type Language, PREDICTION_SCHEMA, type Prediction, SerialQueue } from '@hopwise/contract';
import { originOf } from '@hopwise/pageload-emulator';
import { collectKnowledge } from '../evidence/knowledge.ts';
import { addKnownOffers } from '../evidence/known-offers.ts';
import { findPeriodsDuring, type PinPeriod } from '../evidence/pin-period.ts';
import { findPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { describeError } from '../language/describe-error.ts';
import { findLanguage } from '../language/find-language.ts';
import { loadLanguage } from '../language/load-language.ts';
import { type PlainKey, t } from '../language/translate.ts';
import { usedNetwork } from '../load/used-network.ts';
import type { IncompleteLoad, LatestAnswer, WhichLoad } from '../messages/load-messages.ts';
import { correctProxiedRequests } from '../pins/worker/proxied-requests.ts';
import type { ObservedRequest } from '../recorder/observed-request.ts';
import type { PageSettled } from '../recorder/page-timings.ts';
import { endWaiting } from '../storage/detail-permission.ts';
import {
  addLoad,
  findNewestLoad,
  getLoad,
  getSummaries,
  type StoredLoad,
  updateLoad,
} from '../storage/loads.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { saveQueries } from '../storage/queries.ts';
import { readSettings } from '../storage/settings.ts';
import { stripLoad, stripLoadUrls } from '../storage/strip-load.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { collectRecording } from './collect-recording.ts';
import { noteDroppedReport } from './dropped-reports.ts';
import { knowsQueries } from './known-queries.ts';
import { recallNetwork } from './network-memory.ts';
import { type Extent, predictLoad } from './predict-load.ts';
import { selectShownLoad } from './shown-load.ts';
import { readShownPage, type ShownPage } from './shown-page.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';

/** Store operations in progress, by tab. */
const storing = new Map<number, SerialQueue>();

/** The browser's word on the page that sends a message. */
export interface ReportingPage {
  tabId: number;
  url: string;
  /** Names its document among those of all tabs; '' in Firefox. */
  documentId: string;
  /** When its document began, as the page says: milliseconds since 1970. */
  timeOrigin: number;
}

/**
 * At most so long before the browser reports a navigation's request its page begins, milliseconds: the browser asks the page before whether it may be
 * left, which takes time on a busy machine. A page reports a second after its load at the earliest.
 */
const NAVIGATION_LEAD_MS = 500;

const nameLoad = ({ documentId, timeOrigin }: ReportingPage): string => documentId || `${timeOrigin}`;

/**
 * Names the load whose page reports that it has settled, which its report begins unless the browser's events did. To be called when the
 * report arrives, as the next page may load in the tab before the recording is made.
 *
 * @returns null when the next navigation has started, or was a download, so that the report came from the page before it; or when the load
 *   has been stored, and the worker was stopped before the page knew
 */
export async function findSettledNavigation(loads: TabLoads, page: ReportingPage): Promise<string | null> {
  const { tabId, url, documentId, timeOrigin } = page;
  const seen = await loads.getLoad(tabId);
  if (isRecorded(seen, page)) return null;
  const document = seen?.requests.findLast((request) => request.type === 'document');
  if (!isSeenLoading(seen) || isLeftBehind(document, timeOrigin)) {
    const name = nameLoad(page);
    loads.begin(tabId, name, url, { timeOrigin, documentId });
    return (await loads.getLoad(tabId))?.navigationId === name ? name : null;
  }
  if (!document || (document.headersAt === null && !document.fromCache) || hasNoPage(document)) return null;
  if (originOf(url) !== originOf(document.url)) {
    noteDroppedReport(url, document.url);
    return null;
  }
  loads.updateLoad(tabId, seen.navigationId, { timeOrigin, documentId });
  return seen.navigationId;
}

/**
 * Whether the load of a page has been recorded: each document has one. A page that was captured can make up when it began, but not the browser's name of
 * its document.
 */
function isRecorded(load: TabLoad | undefined, { documentId, timeOrigin }: ReportingPage): boolean {
  if (load?.phase !== 'recorded') return false;
  return documentId === '' ? load.timeOrigin === timeOrigin : load.documentId === documentId;
}

/**
 * Whether a page that began with a navigation or after it reports, although the browser reported no answer to the navigation: the extension stopped
 * listening in between, so that no answer will be reported.
 */
const isLeftBehind = (document: ObservedRequest | undefined, timeOrigin: number): boolean =>
  document?.headersAt === null && !document.fromCache && timeOrigin > document.startedAt - NAVIGATION_LEAD_MS;

/** Whether the events of a navigation began a load that has not been recorded. */
const isSeenLoading = (load: TabLoad | undefined): load is TabLoad =>
  load?.phase === 'loading' && load.isNavigationSeen;

/** A page that is observed from its start on begins to load: what it requests belongs to this load, unless the navigation began it. */
export async function beginDetailedLoad(loads: TabLoads, page: ReportingPage): Promise<void> {
  const { tabId, url, documentId, timeOrigin } = page;
  const seen = await loads.getLoad(tabId);
  if (isSeenLoading(seen) || isRecorded(seen, page)) return;
  loads.begin(tabId, nameLoad(page), url, { isDetailed: true, timeOrigin, documentId });
}

/**
 * Records and stores the page of a tab that has settled, unless another one loads in the tab by now. It is predicted later if at all:
 * most loads are never looked at, and predictions take processor time from the user's pages.
 *
 * @param navigationId as `findSettledNavigation` found it
 * @param settled `loaded` is false when the load event did not fire in time; the page is then recorded as it is, and again if the
 *   event fires later
 * @param periods when pins were active
 */
export function storeSettledLoad(
  loads: TabLoads,
  page: ReportingPage,
  navigationId: string,
  settled: Omit<PageSettled, 'type'>,
  periods: readonly PinPeriod[],
): Promise<void> {
  const { tabId } = page;
  const queue = storing.get(tabId) ?? new SerialQueue();
  storing.set(tabId, queue);
  return queue
    .run(() => recordAndStore(loads, page, navigationId, settled, periods))
    .finally(() => {
      if (queue.size === 0) storing.delete(tabId);
    });
}

async function recordAndStore(
  loads: TabLoads,
  { tabId, documentId }: ReportingPage,
  navigationId: string,
  { loaded, hasFrames, timings }: Omit<PageSettled, 'type'>,
  periods: readonly PinPeriod[],
): Promise<void> {
  const load = await loads.getLoad(tabId);
  if (load?.phase !== 'loading' || load.navigationId !== navigationId) return;
  if (loaded) await waitForRequestEnds(load);
  try {
    const collected = await collectRecording(
      tabId,
      load,
      loads.excludedSites,
      documentId,
      hasFrames,
      timings,
      loaded,
    );
    const duringLoad = findPeriodsDuring(collected, periods);
    const observed = correctProxiedRequests(collected, duringLoad);
    const { keepsQueries } = await readSettings();
    const { queries, ...urls } = stripLoadUrls({ requestedUrl: load.url, recording: observed }, keepsQueries);
    const { recording } = urls;
    const network = usedNetwork(recording, duringLoad);
    // Until the browser starts again, it may report no requests although the extension has the permission.
    const isDetailed = load.isDetailed && load.requests.length > 0;
    if (isDetailed) await endWaiting();
    const fields = {
      ...urls,
      network,
      networkKey: await readNetworkKey(),
      cluster: await recallNetwork({ recording, network, isDetailed }, loaded),
      pinned: findPinnedProtocols(recording, duringLoad),
      wasVisible: await isShown(tabId),
      isDetailed,
      prediction: null,
      problem: '',
      verification: null,
      verifiedPrediction: null,
    };
    const storedId =
      load.storedId === null ? await addLoad(fields) : (await updateLoad(load.storedId, fields)).id;
    await saveQueries(storedId, load.hidesQueries ? [] : queries);
    loads.updateLoad(
      tabId,
      load.navigationId,
      loaded
        ? { phase: 'recorded', problem: '', storedId, requests: [], failures: [] }
        : { problem: '', storedId },
    );
  } catch (error) {
    const reason = await describeError(error);
    await loadLanguage();
    const problem = t('recordFailed', { reason });
    // A page that was too busy to answer can still be recorded when its load event fires.
    loads.updateLoad(
      tabId,
      load.navigationId,
      loaded ? { phase: 'failed', problem, requests: [], failures: [] } : { problem },
    );
  }
}

/** Waits until the loads that are being stored now are stored. */
export async function finishStoring(): Promise<void> {
  await Promise.all([...storing.values()].map((queue) => queue.whenIdle()));
}

/** Removes the query strings of loads that were stored with them. */
export async function stripStoredLoads(): Promise<void> {
  for (const { id } of (await getSummaries()).filter(({ hidesQueries }) => !hidesQueries)) {
    const load = await getLoad(id);
    if (load === undefined) continue;
    const { id: _id, storedAtMs: _storedAtMs, ...fields } = stripLoad(load);
    await updateLoad(id, fields);
  }
}

/** A busy browser may report the end of a request, and the server's address, later to extensions than to the page. */
const REQUEST_END_TIMEOUT_MS = 2000;

/** Waits until the browser has reported the end of every request, but not for requests that stay open. */
async function waitForRequestEnds({ requests }: TabLoad): Promise<void> {
  const deadline = Date.now() + REQUEST_END_TIMEOUT_MS;
  while (requests.some(({ sent, endedAt }) => sent && endedAt === null) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const predicting = new Map<number, Promise<StoredLoad>>();

/** Returns the load with its predictions as people see them, in the user interface's language, which the first call makes and stores. */
export const ensurePrediction = (load: StoredLoad): Promise<StoredLoad> => ensureExtent(load, 'shown');

/** The same with no more than the decision, which takes less time. */
export const ensureDecision = (load: StoredLoad): Promise<StoredLoad> => ensureExtent(load, 'decision');

async function ensureExtent(load: StoredLoad, extent: Extent): Promise<StoredLoad> {
  if (load.problem !== '') return load;
  const language = await findLanguage();
  if (isPredicted(load, language, extent)) return load;
  const underWay = predicting.get(load.id);
  // It may be of another extent.
  if (underWay) return ensureExtent(await underWay, extent);
  const made = makePredictions(load, language, extent).finally(() => predicting.delete(load.id));
  predicting.set(load.id, made);
  return made;
}

function isPredicted(
  { prediction, verification, verifiedPrediction, language = 'en' }: StoredLoad,
  wanted: Language,
  extent: Extent,
): boolean {
  if (!isOfThisVersion(prediction) || !(verification === null || isOfThisVersion(verifiedPrediction)))
    return false;
  return extent === 'decision' || (language === wanted && Object.keys(prediction!.waterfall).length > 0);
}

/** Predictions of earlier versions have another form. */
function isOfThisVersion(prediction: Prediction | null | undefined): boolean {
  return prediction?.schema === PREDICTION_SCHEMA;
}

async function makePredictions(load: StoredLoad, language: Language, extent: Extent): Promise<StoredLoad> {
  const summaries = await getSummaries();
  const knowledge = await collectKnowledge(load, summaries, getLoad);
  const known = { ...load, recording: addKnownOffers(load, summaries) };
  const verifiedPrediction =
    load.verification && predictLoad(known, knowledge, language, extent, load.verification).prediction;
  const { prediction, problem: reason } = predictLoad(known, knowledge, language, extent);
  if (reason !== '') await loadLanguage();
  return updateLoad(load.id, {
    prediction,
    problem: reason && t('predictFailed', { reason }),
    verifiedPrediction,
    language,
  });
}

/** Finds the load that a page of the extension requests. */
export async function findLoad(loads: TabLoads, which: WhichLoad): Promise<LatestAnswer> {
  if (which.tabId === undefined) {
    const load = (which.url === undefined ? undefined : await findNewestLoad(which.url)) ?? null;
    return answerWith(load ? 'recorded' : 'none', '', load);
  }
  const [seen, tab, page] = await Promise.all([
    loads.getLoad(which.tabId),
    findTab(which.tabId),
    readShownPage(which.tabId),
  ]);
  if (loads.excludedSites.has(tab.url)) {
    const { phase, problem } = await describeFailure('loadExcluded');
    return answerWith(phase, problem, null);
  }
  if (!seen || !isShownPage(seen, page, tab))
    return answerWith(page === 'busy' || page?.willReport ? 'loading' : 'none', '', null);
  const load = (seen.storedId === null ? undefined : await getLoad(seen.storedId)) ?? null;
  const { phase, problem } = await findOutcome(seen, load);
  if (load === null) return answerWith(phase, problem, null);
  const { load: shown, incomplete } = await selectShownLoad(load);
  return answerWith(phase, problem, shown, incomplete);
}

async function answerWith(
  phase: LatestAnswer['phase'],
  problem: string,
  load: StoredLoad | null,
  incomplete: IncompleteLoad | null = null,
): Promise<LatestAnswer> {
  const canExportQueries = load !== null && (await knowsQueries(load));
  return {
    ok: true,
    phase,
    problem,
    loadId: load?.id ?? null,
    load,
    canExportQueries,
    incomplete,
    pinGain: null,
  };
}

/** Whether a load is of the page that its tab shows. While the browser navigates, the tab shows the page before. */
function isShownPage(load: TabLoad, page: ShownPage, tab: TabFacts): boolean {
  if (load.isNavigationSeen && load.phase === 'loading') return true;
  if (page === 'busy') return tab.isComplete && maskQuery(tab.url) === maskQuery(load.url);
  return page !== null && load.timeOrigin !== null && Math.abs(load.timeOrigin - page.timeOrigin) < 1;
}

/** What the browser tells of a tab. */
interface TabFacts {
  /** '' when the browser hides it, or the tab was closed in the meantime. */
  url: string;
  /** Whether its page has loaded. */
  isComplete: boolean;
}

async function findTab(tabId: number): Promise<TabFacts> {
  try {
    const { url = '', status } = await chrome.tabs.get(tabId);
    return { url, isComplete: status === 'complete' };
  } catch {
    return { url: '', isComplete: false };
  }
}

async function isShown(tabId: number): Promise<boolean> {
  try {
    return (await chrome.tabs.get(tabId)).active;
  } catch {
    return false;
  }
}

/** Whether a navigation ended without a page: refused, a download, or an empty response. */
function hasNoPage(document: ObservedRequest): boolean {
  return document.endedAt !== null && [0, 204, 205].includes(document.status);
}

/** A failure in the language of the user interface. */
async function describeFailure(why: PlainKey): Promise<Pick<LatestAnswer, 'phase' | 'problem'>> {
  await loadLanguage();
  return { phase: 'failed', problem: t(why) };
}

async function findOutcome(
  seen: TabLoad,
  load: StoredLoad | null,
): Promise<Pick<LatestAnswer, 'phase' | 'problem'>> {
  const { phase, problem } = seen;
  if (phase === 'shown') return describeFailure('loadNotLoaded');
  if (phase === 'recorded' && !load) return describeFailure('loadGone');
  const document = seen.requests.findLast((request) => request.type === 'document');
  if (phase === 'loading' && document && hasNoPage(document)) return describeFailure('loadNoPage');
  return { phase, problem };
}
