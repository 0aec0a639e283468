import type { Decision } from '@hopwise/contract';
import { mayGain } from '../autopilot/choosing/may-gain.ts';
import { readAutopilotSettings } from '../autopilot/settings/autopilot-settings.ts';
import { findComparableLoads, isSlower } from '../evidence/comparable-loads.ts';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import { getLoad, predictionOf, type StoredLoad } from '../storage/loads.ts';
import { deservesDetail, deservesPrediction } from './deserves-detail.ts';

/** What a slow load may lead to. */
interface Followers {
  /** Returns a load with its prediction. */
  predict: (load: StoredLoad) => Promise<StoredLoad>;
  /** Has the next load of a page recorded in detail. */
  wantDetail: (url: string) => Promise<void>;
}

/**
 * Finds what was decided about the page of a slow load without pins. The load is predicted where that is worth it, and the next one is to be
 * recorded in detail where a question stays open. Neither happens where nothing could change how the page loads, as on a network that leaves UDP alone.
 *
 * @param all stored loads, oldest first
 * @returns the load's decision, or the last one about its page; null without any
 */
export async function findDecision(
  load: StoredLoad,
  all: readonly KnownLoad[],
  { predict, wantDetail }: Followers,
): Promise<Decision | null> {
  const couldGain = await mayGain(load, all, await readAutopilotSettings());
  const shown = couldGain && deservesPrediction(load, all) ? await predict(load) : load;
  const own = predictionOf(shown);
  const earlier = findComparableLoads(load, all).findLast((each) => factsOf(each).decision !== null);
  const decided = own === null && earlier ? await getLoad(earlier.id) : shown;
  const decision = (decided && predictionOf(decided)?.decision) ?? null;
  const holds = own !== null || earlier === undefined || !isSlower(load, [earlier]);
  if (couldGain && deservesDetail(load, all, holds ? decision : null)) await wantDetail(load.requestedUrl);
  return decision;
}
