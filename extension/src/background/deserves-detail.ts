import type { Decision } from '@hopwise/contract';
import { findDecidedLoad } from '../autopilot/choosing/decided-load.ts';
import {
  findComparableLoads,
  isSlower,
  judgeAmong,
  pltOf,
  showsLoadTime,
} from '../evidence/comparable-loads.ts';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import type { StoredLoad } from '../storage/loads.ts';

/** What is faster than this has nothing to gain that a person would notice. */
const MIN_LOAD_MS = 1_000;
/** A page that takes this long is worth a closer look, whatever is usual for it. */
const LONG_LOAD_MS = 3_000;
/** An action that gains less of the load time leaves no question open. */
const MIN_GAIN = 0.05;

export const isSlow = (load: Parameters<typeof pltOf>[0]): boolean => pltOf(load) >= MIN_LOAD_MS;

/** Loads recorded in detail after which a page shows no more. */
const ENOUGH_LOADS = 3;

/**
 * Whether the next load of a page is worth recording in detail: the page takes long, or longer than before, is not known well on this
 * network yet, and may gain something as far as is known.
 *
 * @param all stored loads, oldest first
 * @param decision the last one about the page; null where none holds
 */
export function deservesDetail(
  load: StoredLoad,
  all: readonly KnownLoad[],
  decision: Pick<Decision, 'baseline' | 'actions'> | null,
): boolean {
  const comparable = findComparableLoads(load, all);
  if (!isLong(load, comparable) || !showsLoadTime(load, all)) return false;
  const detailed = [...comparable, load].filter(({ isDetailed = true }) => isDetailed);
  if (detailed.length >= ENOUGH_LOADS) return false;
  if (decision === null) return true;
  const { baseline, actions } = decision;
  return actions.some(({ time }) => time.pltMs < (1 - MIN_GAIN) * baseline.pltMs);
}

/** Whether a load takes long enough for a closer look, as such or among those before it. */
export const isLong = (load: KnownLoad, before: readonly KnownLoad[]): boolean =>
  isSlow(load) && (pltOf(load) >= LONG_LOAD_MS || isSlower(load, before));

/**
 * Whether to predict a slow load without a request for it. A load that was recorded in detail is predicted, unless earlier decisions to
 * leave the page as it is still hold. Any other load is predicted if the page has no prediction yet and this is the second load in a row
 * that takes long: the first may have been slow by chance. A load that was shared with other tabs is not predicted: the prediction would be for what these left of the link.
 *
 * @param all stored loads, oldest first
 */
export function deservesPrediction(load: StoredLoad, all: readonly KnownLoad[]): boolean {
  if (judgeAmong(load, all) === 'shared') return false;
  const comparable = findComparableLoads(load, all);
  if (load.isDetailed !== false) return findDecidedLoad(load, comparable) === null;
  const last = comparable.at(-1);
  const isSecond = last !== undefined && isLong(last, comparable.slice(0, -1)) && isLong(load, comparable);
  return isSecond && comparable.every((each) => factsOf(each).decision === null);
}
