import { isShownOpen, type NetworkCluster } from '@hopwise/pageload-emulator';
import { findComparableLoads, findNetworkLoads, isSlower, judgeAmong } from '../evidence/comparable-loads.ts';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { isSlow } from './deserves-detail.ts';

/** Loads of a host's pages on one network after which it may rest. */
const ENOUGH_LOADS = 3;

/**
 * Whether the next loads from the host of a load's page are not worth recording: nothing was unusual about this one, others are stored, and nothing is to be
 * gained by keeping HTTP/3 off, as it is not used or the network leaves UDP alone.
 *
 * @param all stored loads, oldest first
 * @param known of the load's network; null for nothing
 */
export function deservesRest(
  load: StoredLoad,
  all: readonly KnownLoad[],
  known: NetworkCluster | null,
): boolean {
  const comparable = findComparableLoads(load, all);
  const isUsual = !isSlow(load) || !isSlower(load, comparable);
  // Some sites answer every page with an error.
  const isOrdinary = ['full', 'cached', 'error'].includes(judgeAmong(load, all)) && isUsual;
  if (!isOrdinary || load.isDetailed !== false || factsOf(load).network !== 'internet') return false;
  const ofHost = findNetworkLoads(load, all).filter((each) => hostOf(each) === hostOf(load));
  if (ofHost.length + 1 < ENOUGH_LOADS) return false;
  return isAllOverTcp(load) || (known !== null && isShownOpen(known));
}

const hostOf = ({ recording }: KnownLoad): string => new URL(recording.url).hostname;

/** Where the browser withholds the protocol it may have been HTTP/3. */
const isAllOverTcp = ({ recording }: StoredLoad): boolean =>
  recording.requests.every(({ fromCache, protocol }) => fromCache || protocol === 'h1' || protocol === 'h2');
