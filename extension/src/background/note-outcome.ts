import type { Autopilot } from '../autopilot/autopilot.ts';
import { hasPins, pltOf, showsLoadTime } from '../evidence/comparable-loads.ts';
import type { PinManager } from '../pins/worker/pin-manager.ts';
import { getLoad, getSummaries } from '../storage/loads.ts';
import { addSavedTime, addUncomparedLoad } from '../storage/saved-time.ts';
import { showBadge } from './badge.ts';
import { isSlow } from './deserves-detail.ts';
import type { DetailedPages } from './detailed-pages.ts';
import { ensureDecision } from './ensure-prediction.ts';
import { findDecision } from './find-decision.ts';
import { findGain } from './find-gain.ts';
import { showsLoad } from './find-load.ts';
import type { TabLoad } from './tab-loads.ts';

interface Parts {
  autopilot: Pick<Autopilot, 'readReferences'>;
  detailedPages: Pick<DetailedPages, 'wantIfRare'>;
  pins: Pick<PinManager, 'listPins'>;
}

/**
 * Notes what a load shows beyond itself: time that pins saved, what could be gained, and whether the next one is recorded in detail.
 *
 * @param tabId of the tab in which the page was loaded; null where it has been left. It may show another page by now
 * @param load the tab's
 * @param loadId of the same load in the store
 */
export async function noteOutcome(
  tabId: number | null,
  load: TabLoad,
  loadId: number,
  { autopilot, detailedPages, pins }: Parts,
): Promise<void> {
  const stored = await getLoad(loadId);
  const isPinned = stored !== undefined && hasPins(stored);
  if (stored === undefined || !(isPinned || isSlow(stored))) return;
  const all = await getSummaries();
  const gain = await findGain(stored, all, autopilot);
  if (gain !== null) {
    const savedMs = gain.beforeMs - pltOf(stored);
    await addSavedTime({ savedMs, isEstimated: gain.beforeLoads === 0 });
  } else if (isPinned && showsLoadTime(stored, all)) await addUncomparedLoad();
  if (isPinned) return;
  const decision = await findDecision(stored, all, {
    predict: ensureDecision,
    wantDetail: (url) => detailedPages.wantIfRare(url),
  });
  const seenMs = showsLoadTime(stored, all) ? pltOf(stored) : null;
  const allPins = await pins.listPins();
  // Asked last: the page may be left while all of the above is found out.
  if (tabId !== null && (await showsLoad(tabId, load))) await showBadge(tabId, decision, seenMs, allPins);
}
