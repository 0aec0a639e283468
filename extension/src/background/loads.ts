import type { LatestAnswer, WhichLoad } from '../messages/page-messages.ts';
import { asCarried, type Carrier } from '../pins/worker/proxied-requests.ts';
import type { ObservedRequest } from '../recorder/observed-request.ts';
import { addLoad, getLoad, newestLoadOf, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { assess } from './predict-load.ts';
import { collectRecording } from './collect-recording.ts';
import { networkBefore } from './network-memory.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';

/** The last recording under way in each tab: the next one waits for it. */
const storing = new Map<number, Promise<void>>();

/**
 * Records and stores the page of a tab that has settled. Predicting waits until somebody looks:
 * most loads are never looked at, and the processor belongs to the user's pages.
 *
 * @param loaded false when the load event has not come in time; the page is recorded as it stands
 *   and recorded again when the event comes after all
 * @param carriers what the helper carries, by origin
 */
export function storeSettledLoad(
  loads: TabLoads,
  tabId: number,
  documentId: string,
  loaded: boolean,
  carriers: ReadonlyMap<string, Carrier>,
): Promise<void> {
  const store = () => recordAndStore(loads, tabId, documentId, loaded, carriers);
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
  carriers: ReadonlyMap<string, Carrier>,
): Promise<void> {
  const load = await loads.get(tabId);
  if (load?.phase !== 'loading') return;
  const document = load.requests.findLast((request) => request.type === 'document');
  // The next navigation is on its way already, or was a download: this came from the page before it.
  if (!document || (document.headersAt === null && !document.fromCache) || ledToNoPage(document)) return;
  if (loaded) await untilTold(load);
  try {
    const recording = asCarried(await collectRecording(tabId, load, documentId, loaded), carriers);
    const fields = {
      requestedUrl: load.url,
      recording,
      cluster: await networkBefore(recording, loaded),
      prediction: null,
      problem: '',
      verification: null,
      verifiedPrediction: null,
    };
    const storedId =
      load.storedId === null ? await addLoad(fields) : (await updateLoad(load.storedId, fields)).id;
    loads.set(
      tabId,
      load.navigationId,
      loaded ? { phase: 'recorded', problem: '', storedId, requests: [] } : { problem: '', storedId },
    );
  } catch (error) {
    const problem = `This page could not be recorded: ${error instanceof Error ? error.message : error}.`;
    // A page too busy to answer may still fire its load event, and be recorded then.
    loads.set(tabId, load.navigationId, loaded ? { phase: 'failed', problem, requests: [] } : { problem });
  }
}

/** A busy browser tells of a request's end, and of its server's address, after the page has seen it. */
const TOLD_WITHIN_MS = 2000;

/** Waits until the browser has told of the end of every request, but not for those that stay open. */
async function untilTold({ requests }: TabLoad): Promise<void> {
  const deadline = Date.now() + TOLD_WITHIN_MS;
  while (requests.some(({ sent, endedAt }) => sent && endedAt === null) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const predicting = new Map<number, Promise<StoredLoad>>();

/** The load with its prediction, which is made and stored on the first call. */
export function withPrediction(load: StoredLoad): Promise<StoredLoad> {
  if (load.prediction !== null || load.problem !== '') return Promise.resolve(load);
  const underWay = predicting.get(load.id) ?? updateLoad(load.id, assess(load));
  predicting.set(load.id, underWay);
  return underWay.finally(() => predicting.delete(load.id));
}

/** The load that a page of the extension asks for. */
export async function latest(loads: TabLoads, which: WhichLoad): Promise<LatestAnswer> {
  if (which.tabId === undefined) {
    const load = (which.url === undefined ? undefined : await newestLoadOf(which.url)) ?? null;
    return { ok: true, phase: load ? 'recorded' : 'none', problem: '', loadId: load?.id ?? null, load };
  }
  const seen = await loads.get(which.tabId);
  if (!seen) return { ok: true, phase: 'none', problem: '', loadId: null, load: null };
  if (seen.phase === 'recorded' && !(await showsWebPage(which.tabId))) {
    return { ok: true, phase: 'none', problem: '', loadId: null, load: null };
  }
  const load = (seen.storedId === null ? undefined : await getLoad(seen.storedId)) ?? null;
  const { phase, problem } = withOutcome(seen, load);
  return { ok: true, phase, problem, loadId: load?.id ?? null, load };
}

/** Of the browser's own pages nothing is seen: the last load of their tab was another page's. */
async function showsWebPage(tabId: number): Promise<boolean> {
  try {
    return /^https?:/.test((await chrome.tabs.get(tabId)).url ?? '');
  } catch {
    // The tab was closed meanwhile.
    return false;
  }
}

/** A navigation may end without a page: refused, a download, an empty answer. */
function ledToNoPage(document: ObservedRequest): boolean {
  return document.endedAt !== null && [0, 204, 205].includes(document.status);
}

function withOutcome(seen: TabLoad, load: StoredLoad | null): Pick<TabLoad, 'phase' | 'problem'> {
  if (seen.phase === 'recorded' && !load) {
    return {
      phase: 'failed',
      problem: 'The recording is no longer kept. Reload the page to record it anew.',
    };
  }
  const document = seen.requests.findLast((request) => request.type === 'document');
  if (seen.phase === 'loading' && document && ledToNoPage(document)) {
    return { phase: 'failed', problem: 'The last navigation led to no page. Reload the page to record it.' };
  }
  return seen;
}
