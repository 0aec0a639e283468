import { isShownOpen, type NetworkCluster, type Recording, showsUdp } from '@hopwise/pageload-emulator';
import { isSlower } from '../evidence/comparable-loads.ts';
import { waitOf } from '../load/load-summary.ts';
import { findNewestSummary, type StoredLoad } from '../storage/loads.ts';
import { isSlow } from './deserves-detail.ts';

/** The first loads on a network are all learned. On the golden set the second one already changes no decision. */
const FIRST_LOADS = 2;
/** A network of which nothing was learned for this long may have changed. */
const FRESH_MS = 3_600_000;
/** A rate this many times as high, or a round trip this many times as short, is of another network. */
const BEYOND = 2;

/**
 * Whether what a load shows of its network is worth the computation: adding it to what is known emulates the load many times, which
 * takes a tenth of a second of processor time and more.
 *
 * @param before what is known of the network; null for nothing
 */
export async function deservesLearning(
  before: NetworkCluster | null,
  load: Pick<StoredLoad, 'recording' | 'isDetailed'>,
): Promise<boolean> {
  const { recording, isDetailed } = load;
  if (before === null || before.loads < FIRST_LOADS || isDetailed !== false) return true;
  if (Date.parse(recording.recordedAt) - before.updatedAtMs > FRESH_MS) return true;
  // That UDP is hindered may be so no longer.
  if (!isShownOpen(before) && recording.requests.some(showsUdp)) return true;
  return exceeds(recording, before) || (await isSlowerThanBefore(load));
}

/** So many waits that are shorter than a round trip contradict it, as in `recording/path-round-trip.ts` of the emulator. */
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

/** Whether a load that a person waits for took much longer than the last one of its page. */
async function isSlowerThanBefore(load: Pick<StoredLoad, 'recording'>): Promise<boolean> {
  if (!isSlow(load)) return false;
  const last = await findNewestSummary(load.recording.url);
  return last !== undefined && isSlower(load, [last]);
}
