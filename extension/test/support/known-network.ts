import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { NOTHING_KNOWN, saveNetworkMemory } from '../../src/storage/network.ts';

/** Saves what two unrelated sites have just shown of the network that the browser is on. */
export function saveKnownNetwork(cluster: NetworkCluster): Promise<void> {
  const fresh = { ...cluster, updatedAtMs: Date.now() };
  return saveNetworkMemory({ ...NOTHING_KNOWN, sites: { 'one.test': fresh, 'two.test': fresh } });
}
