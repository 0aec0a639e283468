import { SerialQueue } from '@hopwise/contract';
import { findPeriodsDuring, type PinPeriod } from '../evidence/pin-period.ts';
import { findPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { describeError } from '../language/describe-error.ts';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import { usedNetwork } from '../load/used-network.ts';
import { correctProxiedRequests } from '../pins/worker/proxied-requests.ts';
import { withoutAborted, withoutCancelled } from '../recorder/cancelled-resources.ts';
import { isFrameEntry } from '../recorder/join.ts';
import type { FrameTimings, PageSettled } from '../recorder/page-timings.ts';
import { endWaiting } from '../storage/detail-permission.ts';
import { addLoad, getLoad, updateLoad } from '../storage/loads.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { saveQueries } from '../storage/queries.ts';
import { readSettings } from '../storage/settings.ts';
import { stripLoadUrls } from '../storage/strip-load.ts';
import { answersAlike } from './answers-alike.ts';
import { collectRecording } from './collect-recording.ts';
import { recallNetwork } from './network-memory.ts';
import type { ReportingPage } from './reported-load.ts';
import { findTab } from './shown-page.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';
import { measureOverlap } from './tab-overlap.ts';

/** A load whose page reports that it has settled. */
interface SettledLoad {
  page: ReportingPage;
  /** As `findSettledNavigation` found it. */
  navigationId: string;
  /**
   * `loaded` is false when the load event did not fire in time, or before the page was left; the page is then recorded as it is, and in the first case
   * again if the event fires later.
   */
  settled: Omit<PageSettled, 'type' | 'leftMs'>;
  /** When pins were active. */
  periods: readonly PinPeriod[];
  /** The load as the report found it, of a page that was left: the next one may be in the tab by now. */
  left?: TabLoad | undefined;
}

/** Store operations in progress, by tab. */
const storing = new Map<number, SerialQueue>();

/**
 * Records and stores the page of a tab that has settled, unless another one loads in the tab by now. It is predicted later if at all:
 * most loads are never looked at, and predictions take processor time from the user's pages.
 */
export function storeSettledLoad(loads: TabLoads, settledLoad: SettledLoad): Promise<void> {
  const { tabId } = settledLoad.page;
  const queue = storing.get(tabId) ?? new SerialQueue();
  storing.set(tabId, queue);
  return queue
    .run(() => recordAndStore(loads, settledLoad))
    .finally(() => {
      if (queue.size === 0) storing.delete(tabId);
    });
}

async function recordAndStore(
  loads: TabLoads,
  { page, navigationId, settled, periods, left }: SettledLoad,
): Promise<void> {
  const { tabId, documentId, leftMs } = page;
  const { loaded, hasFrames, wasHidden, endedHidden = false, timings } = settled;
  const load = left ?? (await loads.getLoad(tabId));
  if (load?.phase !== 'loading' || load.navigationId !== navigationId) return;
  const isHere = leftMs === null;
  if (!loaded && !isHere && load.storedId !== null) return endStored(loads, tabId, load, load.storedId);
  const isFinal = loaded || !isHere;
  if (loaded && isHere) await waitForRequestEnds(load);
  try {
    // Meanwhile, as the page may be left soon.
    const measured = measureOverlap(page, settled);
    const collected = await collectRecording(
      tabId,
      isHere ? load : { ...load, requests: withoutAborted(load.requests, page.timeOrigin + leftMs) },
      loads.excludedSites,
      documentId,
      // The frames in the tab are the next page's. A page does not count those in its shadow trees, but its timings list them.
      isHere && (hasFrames || timings.resources.some(isFrameEntry)),
      withoutEnd(isHere ? timings : withoutCancelled(timings, leftMs), loaded),
      isFinal,
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
    const networkKey = await readNetworkKey();
    const pinned = findPinnedProtocols(recording, duringLoad);
    const overlap = await measured;
    const fields = {
      ...urls,
      network,
      networkKey,
      cluster: await recallNetwork({ recording, network, networkKey, pinned, isDetailed, overlap }, isFinal),
      pinned,
      wasVisible: (await findTab(tabId)).isActive,
      wasHidden,
      endedHidden,
      overlap,
      ...((await answersAlike(recording, load.storedId)) && { answersAlike: true }),
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
      isFinal
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
      isFinal ? { phase: 'failed', problem, requests: [], failures: [] } : { problem },
    );
  }
}

/** Removes the end of the load event from a page's timings where the page has not loaded. */
function withoutEnd(timings: FrameTimings, loaded: boolean): FrameTimings {
  const { navigation } = timings;
  return loaded || navigation === null
    ? timings
    : { ...timings, navigation: { ...navigation, loadEventEnd: 0 } };
}

/**
 * Ends the load of a page that was stored after 30 s without a load event, and is left now. That recording stays: it has the page's frames, and what was
 * requested since belongs to the page's use.
 */
async function endStored(loads: TabLoads, tabId: number, load: TabLoad, storedId: number): Promise<void> {
  const stored = await getLoad(storedId);
  if (stored) await recallNetwork(stored, true);
  loads.updateLoad(tabId, load.navigationId, { phase: 'recorded', requests: [], failures: [] });
}

/** Waits until the loads that are being stored now are stored. */
export async function finishStoring(): Promise<void> {
  await Promise.all([...storing.values()].map((queue) => queue.whenIdle()));
}

/** A busy browser may report the end of a request, and the server's address, later to extensions than to the page. */
const REQUEST_END_TIMEOUT_MS = 2000;

/** Waits until the browser has reported the end of every request, but not for requests that stay open. */
async function waitForRequestEnds({ requests }: TabLoad): Promise<void> {
  const deadline = Date.now() + REQUEST_END_TIMEOUT_MS;
  while (requests.some(({ sent, endedAt }) => sent && endedAt === null) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50));
}
