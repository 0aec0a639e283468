import { type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';

const KEY = 'network';
/** The weight of a cluster halves each day, so an older one carries almost no information. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;

/** Loads the summary of the network that the browser is on; null when there were no recent loads. */
export async function loadNetwork(nowMs = Date.now()): Promise<NetworkCluster | null> {
  const cluster = parseCluster((await chrome.storage.local.get(KEY))[KEY]);
  return cluster !== null && nowMs - cluster.updatedAtMs < MAX_AGE_MS ? cluster : null;
}

export function saveNetwork(cluster: NetworkCluster): Promise<void> {
  return chrome.storage.local.set({ [KEY]: cluster });
}

export function removeNetwork(): Promise<void> {
  return chrome.storage.local.remove(KEY);
}
