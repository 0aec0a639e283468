import type { Language } from '@hopwise/contract';
import { collectKnowledge } from '../evidence/knowledge.ts';
import { findPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { usedNetwork } from '../evidence/used-network.ts';
import { findLanguage } from '../language/find-language.ts';
import type { IncompleteLoad, LatestAnswer, WhichLoad } from '../messages/load-messages.ts';
import { correctProxiedRequests, type ProxiedOrigin } from '../pins/worker/proxied-requests.ts';
import type { ObservedRequest } from '../recorder/observed-request.ts';
import {
  addLoad,
  findNewestLoad,
  getAllLoads,
  getLoad,
  type StoredLoad,
  updateLoad,
} from '../storage/loads.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { saveQueries } from '../storage/queries.ts';
import { readSettings } from '../storage/settings.ts';
import { stripLoad, stripLoadUrls } from '../storage/strip-load.ts';
import { collectRecording } from './collect-recording.ts';
import { knowsQueries } from './known-queries.ts';
import { recallNetwork } from './network-memory.ts';
import { predictLoad } from './predict-load.ts';
import { selectShownLoad } from './shown-load.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';

/** The last store operation of each tab; the next one waits for it. */
const storing = new Map<number, Promise<void>>();

/**
 * Records and stores the page of a tab that has settled. The prediction is made only when the user opens the popup or panel:
 * most loads are never looked at, and predictions take processor time from the user's pages.
 *
 * @param loaded false when the load event did not fire in time; the page is then recorded as it is, and again if the event
 *   fires later
 * @param proxiedOrigins active pins, by origin
 */
export function storeSettledLoad(
  loads: TabLoads,
  tabId: number,
  documentId: string,
  loaded: boolean,
  proxiedOrigins: ReadonlyMap<string, ProxiedOrigin>,
): Promise<void> {
  const store = () => recordAndStore(loads, tabId, documentId, loaded, proxiedOrigins);
  const turn = (storing.get(tabId) ?? Promise.resolve()).then(store, store);
  storing.set(tabId, turn);
  return turn.finally(() => {
    if (storing.get(tabId) === turn) storing.delete(tabId);
  });
}

async function recordAndStore(
  loads: TabLoads,
  tabId: number,
  documentId: string,
  loaded: boolean,
  proxiedOrigins: ReadonlyMap<string, ProxiedOrigin>,
): Promise<void> {
  const load = await loads.getLoad(tabId);
  if (load?.phase !== 'loading') return;
  const document = load.requests.findLast((request) => request.type === 'document');
  // The next navigation has started, or was a download: the message came from the page before it.
  if (!document || (document.headersAt === null && !document.fromCache) || hasNoPage(document)) return;
  if (loaded) await waitForRequestEnds(load);
  try {
    const observed = correctProxiedRequests(
      await collectRecording(tabId, load, documentId, loaded),
      proxiedOrigins,
    );
    const { keepsQueries } = await readSettings();
    const { queries, ...urls } = stripLoadUrls({ requestedUrl: load.url, recording: observed }, keepsQueries);
    const { recording } = urls;
    const network = usedNetwork(recording, proxiedOrigins);
    const fields = {
      ...urls,
      network,
      networkKey: await readNetworkKey(),
      cluster: await recallNetwork({ recording, network }, loaded),
      pinned: findPinnedProtocols(recording, proxiedOrigins),
      wasVisible: await isShown(tabId),
      prediction: null,
      problem: '',
      verification: null,
      verifiedPrediction: null,
    };
    const storedId =
      load.storedId === null ? await addLoad(fields) : (await updateLoad(load.storedId, fields)).id;
    await saveQueries(storedId, queries);
    loads.updateLoad(
      tabId,
      load.navigationId,
      loaded ? { phase: 'recorded', problem: '', storedId, requests: [] } : { problem: '', storedId },
    );
  } catch (error) {
    const problem = `This page could not be recorded: ${error instanceof Error ? error.message : error}.`;
    // A page that was too busy to answer can still be recorded when its load event fires.
    loads.updateLoad(
      tabId,
      load.navigationId,
      loaded ? { phase: 'failed', problem, requests: [] } : { problem },
    );
  }
}

/** Waits until the loads that are being stored now are stored. */
export async function finishStoring(): Promise<void> {
  await Promise.allSettled(storing.values());
}

/** Removes the query strings of loads that were stored with them. */
export async function stripStoredLoads(): Promise<void> {
  for (const load of await getAllLoads()) {
    const { id, storedAtMs: _storedAtMs, ...fields } = stripLoad(load);
    if (!load.hidesQueries) await updateLoad(id, fields);
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

/** Returns the load with its predictions in the user interface's language, which the first call makes and stores. */
export async function ensurePrediction(load: StoredLoad): Promise<StoredLoad> {
  if (load.problem !== '') return load;
  const language = await findLanguage();
  if (isPredicted(load, language)) return load;
  const underWay = predicting.get(load.id) ?? makePredictions(load, language);
  predicting.set(load.id, underWay);
  return underWay.finally(() => predicting.delete(load.id));
}

const EXCLUDED =
  'This site is excluded: hopwise records nothing on it. The options of hopwise list the excluded sites.';

/** Predictions of an earlier version have no decision. */
function isPredicted(
  { prediction, verification, verifiedPrediction, language = 'en' }: StoredLoad,
  wanted: Language,
): boolean {
  if (language !== wanted) return false;
  return Boolean(prediction?.decision && (verification === null || verifiedPrediction?.decision));
}

async function makePredictions(load: StoredLoad, language: Language): Promise<StoredLoad> {
  const knowledge = collectKnowledge(load, await getAllLoads());
  const verifiedPrediction =
    load.verification && predictLoad(load, knowledge, language, load.verification).prediction;
  return updateLoad(load.id, { ...predictLoad(load, knowledge, language), verifiedPrediction, language });
}

/** Finds the load that a page of the extension requests. */
export async function findLoad(loads: TabLoads, which: WhichLoad): Promise<LatestAnswer> {
  if (which.tabId === undefined) {
    const load = (which.url === undefined ? undefined : await findNewestLoad(which.url)) ?? null;
    return answerWith(load ? 'recorded' : 'none', '', load);
  }
  const [seen, url] = await Promise.all([loads.getLoad(which.tabId), findTabUrl(which.tabId)]);
  if (loads.excludedSites.has(url)) return answerWith('failed', EXCLUDED, null);
  // The browser's own pages are not recorded: the last load of their tab belongs to another page.
  if (!seen || (seen.phase === 'recorded' && !/^https?:/.test(url))) return answerWith('none', '', null);
  const load = (seen.storedId === null ? undefined : await getLoad(seen.storedId)) ?? null;
  const { phase, problem } = findOutcome(seen, load);
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

/** URL of a tab; '' when the browser hides it or the tab was closed in the meantime. */
async function findTabUrl(tabId: number): Promise<string> {
  try {
    return (await chrome.tabs.get(tabId)).url ?? '';
  } catch {
    return '';
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

function findOutcome(seen: TabLoad, load: StoredLoad | null): Pick<TabLoad, 'phase' | 'problem'> {
  if (seen.phase === 'recorded' && !load) {
    return {
      phase: 'failed',
      problem: 'This recording is no longer stored. Reload the page to record it again.',
    };
  }
  const document = seen.requests.findLast((request) => request.type === 'document');
  if (seen.phase === 'loading' && document && hasNoPage(document)) {
    return {
      phase: 'failed',
      problem: 'The last navigation did not load a page. Reload the page to record it.',
    };
  }
  return seen;
}
