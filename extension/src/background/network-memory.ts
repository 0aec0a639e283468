/** Learns the network that the browser is on from page loads, and keeps the summary for later loads. */
import { SerialQueue, type Verification } from '@hopwise/contract';
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
import { deservesLearning } from './deserves-learning.ts';
import { doubtNetworkKey } from './recognise-network.ts';

/** Changes to the stored networks. */
const changes = new SerialQueue();

/**
 * Returns what earlier loads showed about a load's network; null when there are none, when the load's rates show that it is on
 * another network, and when it is not known to have used the internet.
 *
 * @param isFinal whether the load has ended: it is then added to the stored network, unless it tells nothing new
 */
export function recallNetwork(
  load: Pick<StoredLoad, 'recording' | 'network' | 'isDetailed'>,
  isFinal: boolean,
): Promise<NetworkCluster | null> {
  return changes
    .run(async () => {
      if (networkOf(load) !== 'internet') return null;
      const before = await loadNetwork();
      if (!isFinal || !(await deservesLearning(before, load))) return before;
      const after = learnNetwork(before, load.recording);
      await saveNetwork(after);
      if (before !== null && after.loads === 1) await doubtNetworkKey();
      return after.loads > 1 ? before : null;
    })
    .catch(() => null);
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
  return changes
    .run(async () => {
      if (networkKey !== (await readNetworkKey())) return;
      const stored = await loadNetwork();
      if (stored === null || networkOf({ recording, network }) !== 'internet') return;
      // The load itself counts once: if it was the last one learned, it is learned again from the network as stored before it.
      const isLast = stored.updatedAtMs === Date.parse(recording.recordedAt);
      const before = isLast ? parseCluster(cluster) : stored;
      await saveNetwork(learnNetwork(before, recording, Date.now(), measuredBy(verification)));
    })
    .catch(() => undefined);
}

/** Forgets the network if it is not recognised, because the browser is now on another one. */
export function leaveNetwork(): Promise<void> {
  return changes.run(async () => void (await removeUnrecognisedNetwork()));
}

/** Forgets networks that are too old to be used. */
export function removeOldNetworks(): Promise<void> {
  return changes.run(removeExpiredNetworks);
}

/** Forgets all networks. @returns whether one was stored */
export function eraseNetworks(): Promise<boolean> {
  return changes.run(removeNetworks);
}

/** Forgets all networks, also in stored loads, whose predictions are then made again. */
export function forgetNetworks(): Promise<void> {
  return changes.run(async () => {
    await removeNetworks();
    for (const { id, cluster } of await getAllLoads()) {
      if (cluster)
        await updateLoad(id, { cluster: null, prediction: null, problem: '', verifiedPrediction: null });
    }
  });
}
