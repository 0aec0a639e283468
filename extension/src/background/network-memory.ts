/** Learns the network that the browser is on from page loads, and keeps the summary for later loads. */
import type { Verification } from '@hopwise/contract';
import { learnNetwork, measuredBy, type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';
import { networkOf } from '../evidence/used-network.ts';
import { getAllLoads, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { loadNetwork, removeNetwork, saveNetwork } from '../storage/network.ts';

/** The last change to the stored network; the next one waits for it. */
let turn: Promise<unknown> = Promise.resolve();

function runInTurn<T>(change: () => Promise<T>): Promise<T> {
  const done = turn.then(change, change);
  turn = done;
  return done;
}

/**
 * Returns what earlier loads showed about a load's network; null when there are none, when the load's rates show that it is on
 * another network, and when it is not known to have used the internet.
 *
 * @param learn whether this load is added to the stored network
 */
export function recallNetwork(
  { recording, network }: Pick<StoredLoad, 'recording' | 'network'>,
  learn: boolean,
): Promise<NetworkCluster | null> {
  return runInTurn(async () => {
    if (networkOf({ recording, network }) !== 'internet') return null;
    const before = await loadNetwork();
    if (!learn) return before;
    const after = learnNetwork(before, recording);
    await saveNetwork(after);
    return after.loads > 1 ? before : null;
  }).catch(() => null);
}

/** Adds a verification's figures to the stored network. Has no effect when that was forgotten in the meantime. */
export function learnFromVerification(
  { recording, network, cluster }: Pick<StoredLoad, 'recording' | 'network' | 'cluster'>,
  verification: Verification,
): Promise<void> {
  return runInTurn(async () => {
    const stored = await loadNetwork();
    if (stored === null || networkOf({ recording, network }) !== 'internet') return;
    // The load itself counts once: if it was the last one learned, it is learned again from the network as stored before it.
    const isLast = stored.updatedAtMs === Date.parse(recording.recordedAt);
    const before = isLast ? parseCluster(cluster) : stored;
    await saveNetwork(learnNetwork(before, recording, Date.now(), measuredBy(verification)));
  }).catch(() => undefined);
}

/** Forgets the network, for example because the browser is now on another one. @returns whether one was stored */
export function forgetNetwork(): Promise<boolean> {
  return runInTurn(async () => {
    const isStored = (await loadNetwork()) !== null;
    await removeNetwork();
    return isStored;
  });
}

/** Forgets the network when it is too old to be used. */
export function removeExpiredNetwork(): Promise<void> {
  return runInTurn(async () => {
    if ((await loadNetwork()) === null) await removeNetwork();
  });
}

/** Forgets the network, also in stored loads, whose predictions are then made again. */
export function forgetNetworks(): Promise<void> {
  return runInTurn(async () => {
    await removeNetwork();
    for (const { id, cluster } of await getAllLoads()) {
      if (cluster)
        await updateLoad(id, { cluster: null, prediction: null, problem: '', verifiedPrediction: null });
    }
  });
}
