import type { LatestAnswer, WhichLoad } from '../messages/load-messages.ts';
import { correctProxiedRequests, type ProxiedOrigin } from '../pins/worker/proxied-requests.ts';
import type { ObservedRequest } from '../recorder/observed-request.ts';
import { addLoad, findNewestLoad, getLoad, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { collectRecording } from './collect-recording.ts';
import { recallNetwork } from './network-memory.ts';
import { predictLoad } from './predict-load.ts';
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
    const recording = correctProxiedRequests(
      await collectRecording(tabId, load, documentId, loaded),
      proxiedOrigins,
    );
    const fields = {
      requestedUrl: load.url,
      recording,
      cluster: await recallNetwork(recording, loaded),
      prediction: null,
      problem: '',
      verification: null,
      verifiedPrediction: null,
    };
    const storedId =
      load.storedId === null ? await addLoad(fields) : (await updateLoad(load.storedId, fields)).id;
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

/** A busy browser may report the end of a request, and the server's address, later to extensions than to the page. */
const REQUEST_END_TIMEOUT_MS = 2000;

/** Waits until the browser has reported the end of every request, but not for requests that stay open. */
async function waitForRequestEnds({ requests }: TabLoad): Promise<void> {
  const deadline = Date.now() + REQUEST_END_TIMEOUT_MS;
  while (requests.some(({ sent, endedAt }) => sent && endedAt === null) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const predicting = new Map<number, Promise<StoredLoad>>();

/** Returns the load with its prediction, which the first call makes and stores. */
export function ensurePrediction(load: StoredLoad): Promise<StoredLoad> {
  if (load.prediction !== null || load.problem !== '') return Promise.resolve(load);
  const underWay = predicting.get(load.id) ?? updateLoad(load.id, predictLoad(load));
  predicting.set(load.id, underWay);
  return underWay.finally(() => predicting.delete(load.id));
}

/** Finds the load that a page of the extension requests. */
export async function findLoad(loads: TabLoads, which: WhichLoad): Promise<LatestAnswer> {
  if (which.tabId === undefined) {
    const load = (which.url === undefined ? undefined : await findNewestLoad(which.url)) ?? null;
    return { ok: true, phase: load ? 'recorded' : 'none', problem: '', loadId: load?.id ?? null, load };
  }
  const seen = await loads.getLoad(which.tabId);
  if (!seen) return { ok: true, phase: 'none', problem: '', loadId: null, load: null };
  if (seen.phase === 'recorded' && !(await showsWebPage(which.tabId))) {
    return { ok: true, phase: 'none', problem: '', loadId: null, load: null };
  }
  const load = (seen.storedId === null ? undefined : await getLoad(seen.storedId)) ?? null;
  const { phase, problem } = findOutcome(seen, load);
  return { ok: true, phase, problem, loadId: load?.id ?? null, load };
}

/** The browser's own pages are not recorded: the last load of their tab belongs to another page. */
async function showsWebPage(tabId: number): Promise<boolean> {
  try {
    return /^https?:/.test((await chrome.tabs.get(tabId)).url ?? '');
  } catch {
    // The tab was closed in the meantime.
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
      problem: 'This recording was removed to make room for newer ones. Reload the page to record it again.',
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
