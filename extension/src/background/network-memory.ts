/** Learns the network that the browser is on from page loads, and keeps the summary for later loads. */
import type { Verification } from '@hopwise/contract';
import { learnNetwork, measuredBy, type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';
import { networkOf } from '../evidence/used-network.ts';
import { getAllLoads, type StoredLoad, updateLoad } from '../storage/loads.ts';
import {
  loadNetwork,
  removeExpiredNetworks,
  removeNetworks,
  removeUnrecognisedNetwork,
  saveNetwork,
} from '../storage/network.ts';
import { readNetworkKey } from '../storage/network-key.ts';

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

/** Adds a verification's figures to the load's network. Has no effect when that was forgotten or left in the meantime. */
export function learnFromVerification(
  {
    recording,
    network,
    networkKey = null,
    cluster,
  }: Pick<StoredLoad, 'recording' | 'network' | 'networkKey' | 'cluster'>,
  verification: Verification,
): Promise<void> {
  return runInTurn(async () => {
    if (networkKey !== (await readNetworkKey())) return;
    const stored = await loadNetwork();
    if (stored === null || networkOf({ recording, network }) !== 'internet') return;
    // The load itself counts once: if it was the last one learned, it is learned again from the network as stored before it.
    const isLast = stored.updatedAtMs === Date.parse(recording.recordedAt);
    const before = isLast ? parseCluster(cluster) : stored;
    await saveNetwork(learnNetwork(before, recording, Date.now(), measuredBy(verification)));
  }).catch(() => undefined);
}

/** Forgets the network if it is not recognised, because the browser is now on another one. */
export function leaveNetwork(): Promise<void> {
  return runInTurn(async () => void (await removeUnrecognisedNetwork()));
}

/** Forgets networks that are too old to be used. */
export function removeOldNetworks(): Promise<void> {
  return runInTurn(removeExpiredNetworks);
}

/** Forgets all networks. @returns whether one was stored */
export function eraseNetworks(): Promise<boolean> {
  return runInTurn(removeNetworks);
}

/** Forgets all networks, also in stored loads, whose predictions are then made again. */
export function forgetNetworks(): Promise<void> {
  return runInTurn(async () => {
    await removeNetworks();
    for (const { id, cluster } of await getAllLoads()) {
      if (cluster)
        await updateLoad(id, { cluster: null, prediction: null, problem: '', verifiedPrediction: null });
    }
  });
}
