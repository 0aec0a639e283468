import {
  isShownOpen,
  type NetworkCluster,
  type Recording,
  showsUdp,
  siteKey,
} from '@hopwise/pageload-emulator';
import { hasPins, hasSamePins, isBesideTabs, isSlower, timeOf } from '../evidence/comparable-loads.ts';
import { isShared } from '../load/load-quality.ts';
import { waitOf } from '../load/load-summary.ts';
import { findNewestSummary, getSummaries, type StoredLoad } from '../storage/loads.ts';
import { isSlow } from './deserves-detail.ts';

/** The first loads on a network are all learned. On the golden set the second one already changes no decision. */
const FIRST_LOADS = 2;
/** A network of which nothing was learned for this long may have changed. */
const FRESH_MS = 3_600_000;
/** A rate this many times as high, or a round trip this many times as short, is of another network. */
const BEYOND = 2;

/** Where a policer is as probable as this, one more load like the last tells nothing new. */
const SURE = 0.95;

export type LearnedLoad = Pick<StoredLoad, 'recording' | 'isDetailed' | 'networkKey' | 'pinned' | 'overlap'>;

/**
 * Whether what a load shows of its network is worth the computation: adding it to what is known emulates the load many times, which
 * takes a tenth of a second of processor time and more.
 *
 * @param before what is known of the network; null for nothing
 */
export async function deservesLearning(before: NetworkCluster | null, load: LearnedLoad): Promise<boolean> {
  const { recording, isDetailed } = load;
  if (before === null || before.loads < FIRST_LOADS || isDetailed !== false) return true;
  if (Date.parse(recording.recordedAt) - before.updatedAtMs > FRESH_MS) return true;
  const mayShowUdp = !isShownOpen(before) && recording.requests.some(showsUdp);
  // Under pins, what is left over HTTP/3 is to show whether UDP is still hindered.
  if (mayShowUdp && (before.udp.policed < SURE || hasPins(load))) return true;
  return exceeds(recording, before) || (await isUnlikeLast(load, mayShowUdp));
}

/** Loads that began within this time belong to one occasion, such as the restoring of a session. */
const OCCASION_MS = 60_000;

/** The last loads of a site show how its pages are opened. */
const LAST_LOADS = 2;

/**
 * Whether a load hides how fast the link is, because other tabs loaded too. Where the last loads of its site, on earlier occasions, were
 * shared as well, it counts nevertheless: nothing else would ever be learned there.
 */
export async function hidesLink(load: LearnedLoad): Promise<boolean> {
  if (!isShared(load)) return false;
  const { recording, networkKey = null } = load;
  const site = siteKey(recording.url);
  const beforeMs = Date.parse(recording.recordedAt) - OCCASION_MS;
  const earlier = (await getSummaries()).filter(
    (each) =>
      siteKey(each.recording.url) === site &&
      (each.networkKey ?? null) === networkKey &&
      timeOf(each) < beforeMs,
  );
  return isBesideTabs(load, earlier.slice(-LAST_LOADS));
}

/** How many waits that are shorter than a round trip contradict it, as in `recording/path-round-trip.ts` of the emulator. */
const CONTRADICTING = 3;

/** Whether a load was faster than its network can be, as far as that is known: other traffic may have slowed down those that were learned. */
function exceeds({ requests }: Recording, { rttMs, downBps }: NetworkCluster): boolean {
  const minRttMs = Math.exp(rttMs.mean) / BEYOND;
  const maxBitsPerMs = (Math.exp(downBps.mean + downBps.spread) * BEYOND) / 1_000;
  const received = requests.filter(({ fromCache, status }) => !fromCache && status !== 0);
  const quick = received.filter((request) => waitOf(request) < minRttMs);
  return (
    quick.length >= CONTRADICTING ||
    received.some(({ bodyBytes, startMs, endMs }) => 8 * (bodyBytes ?? 0) > maxBitsPerMs * (endMs - startMs))
  );
}

/**
 * Whether a load that a person waits for took much longer than the last one of its page; where UDP is surely held back, also whether it took much less,
 * as that may be so no longer.
 */
async function isUnlikeLast(load: LearnedLoad, isHindered: boolean): Promise<boolean> {
  const { networkKey = null } = load;
  const last = await findNewestSummary(
    load.recording.url,
    (each) => (each.networkKey ?? null) === networkKey,
  );
  if (last === undefined || !hasSamePins(last, load)) return isHindered;
  return (isSlow(load) && isSlower(load, [last])) || (isHindered && isSlower(last, [load]));
}
