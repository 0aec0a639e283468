import { learnNetwork, type NetworkCluster } from '@hopwise/pageload-emulator';
import { NOTHING_KNOWN, saveNetworkMemory } from '../../src/storage/network.ts';
import { loadOf } from '../evidence/stored-loads.ts';

const learned = learnNetwork(null, loadOf(1).recording);

/** What is known of a network that treats UDP so. @param policedShare the policer's rate as a share of the link's */
export const knownWithUdp = (udp: Partial<NetworkCluster['udp']>, policedShare = 0.1) => ({
  cluster: {
    ...learned,
    udp: { open: 0, policed: 0, blocked: 0, ...udp },
    policedBps: { ...learned.policedBps, mean: learned.downBps.mean + Math.log(policedShare) },
  },
});

/** Saves what two unrelated sites have just shown of the network that the browser is on. */
export function saveKnownNetwork(cluster: NetworkCluster): Promise<void> {
  const fresh = { ...cluster, updatedAtMs: Date.now() };
  return saveNetworkMemory({ ...NOTHING_KNOWN, sites: { 'one.test': fresh, 'two.test': fresh } });
}
