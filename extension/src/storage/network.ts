import { type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';
import { readSettings } from './settings.ts';

const KEY = 'network';
/** The weight of a cluster halves each day, so an older one carries almost no information. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;

/** Loads the summary of the network that the browser is on; null when there were no recent loads. */
export async function loadNetwork(nowMs = Date.now()): Promise<NetworkCluster | null> {
  const cluster = parseCluster((await chrome.storage.local.get(KEY))[KEY]);
  const { ageLimitHours } = await readSettings();
  const maxAgeMs = Math.min(MAX_AGE_MS, ageLimitHours * 3_600_000);
  return cluster !== null && nowMs - cluster.updatedAtMs < maxAgeMs ? cluster : null;
}

export function saveNetwork(cluster: NetworkCluster): Promise<void> {
  return chrome.storage.local.set({ [KEY]: cluster });
}

export function removeNetwork(): Promise<void> {
  return chrome.storage.local.remove(KEY);
}
