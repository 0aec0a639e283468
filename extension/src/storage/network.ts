import { type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';

const KEY = 'network';
/** A cluster counts by half after a day: what is older than this says next to nothing. */
const KEPT_MS = 3 * 24 * 3_600_000;

/** What earlier loads told of the network that the browser is on; null when there were none lately. */
export async function keptNetwork(nowMs = Date.now()): Promise<NetworkCluster | null> {
  const cluster = parseCluster((await chrome.storage.local.get(KEY))[KEY]);
  return cluster !== null && nowMs - cluster.updatedAtMs < KEPT_MS ? cluster : null;
}

export function keepNetwork(cluster: NetworkCluster): Promise<void> {
  return chrome.storage.local.set({ [KEY]: cluster });
}

export function dropNetwork(): Promise<void> {
  return chrome.storage.local.remove(KEY);
}
