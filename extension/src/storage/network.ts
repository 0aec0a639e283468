/** Summaries of networks: one for each that the helper recognises, and one for the network that the browser is on if it does not. */
import { type NetworkCluster, parseCluster } from '@hopwise/pageload-emulator';
import { readNetworkKey } from './network-key.ts';
import { readSettings } from './settings.ts';
import { StoredItem } from './stored-item.ts';

/** In place of a key, for the network that is not recognised. */
const UNRECOGNISED = '';
/** The weight of a cluster halves each day, so an older one carries almost no information. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;
/** Of these many networks, those that were used last, something is remembered. */
export const MAX_NETWORKS = 20;

type Networks = Record<string, NetworkCluster>;

/** Null for those that cannot be read. */
const storedNetworks = new StoredItem<Record<string, NetworkCluster | null>>('local', 'networks', (value) => {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, parseCluster(each)]));
});

/** Loads the summary of the network that the browser is on; null when there were no recent loads. */
export async function loadNetwork(nowMs = Date.now()): Promise<NetworkCluster | null> {
  const networks = await loadNetworks(nowMs);
  return networks[await findName()] ?? null;
}

/** How many other networks are remembered. */
export async function countOtherNetworks(): Promise<number> {
  const [networks, name] = await Promise.all([loadNetworks(Date.now()), findName()]);
  return Object.keys(networks).filter((each) => each !== name).length;
}

/** Saves the summary of the network that the browser is on. */
export async function saveNetwork(cluster: NetworkCluster): Promise<void> {
  const networks = await loadNetworks(Date.now());
  await saveNetworks({ ...networks, [await findName()]: cluster });
}

/** Removes the summary of a network that is not recognised: the browser is on another one now. @returns whether there was one */
export async function removeUnrecognisedNetwork(): Promise<boolean> {
  const { [UNRECOGNISED]: removed, ...others } = await loadNetworks(Date.now());
  if (removed !== undefined) await saveNetworks(others);
  return removed !== undefined;
}

/** @returns whether there was a network */
export async function removeNetworks(): Promise<boolean> {
  const networks = await loadNetworks(Date.now());
  await storedNetworks.remove();
  return Object.keys(networks).length > 0;
}

/** Removes networks that are too old to be used. */
export async function removeExpiredNetworks(): Promise<void> {
  const networks = await loadNetworks(Date.now());
  const left = Object.keys(networks).length;
  if (left === Object.keys(await storedNetworks.read()).length) return;
  if (left === 0) await storedNetworks.remove();
  else await saveNetworks(networks);
}

/** Those that are not too old; what cannot be read is left out. */
async function loadNetworks(nowMs: number): Promise<Networks> {
  const stored = await storedNetworks.read();
  const { ageLimitHours } = await readSettings();
  const maxAgeMs = Math.min(MAX_AGE_MS, ageLimitHours * 3_600_000);
  return Object.fromEntries(
    Object.entries(stored).flatMap(([name, cluster]): [string, NetworkCluster][] =>
      cluster !== null && nowMs - cluster.updatedAtMs < maxAgeMs ? [[name, cluster]] : [],
    ),
  );
}

function saveNetworks(networks: Networks): Promise<void> {
  const newest = Object.entries(networks)
    .sort(([, a], [, b]) => b.updatedAtMs - a.updatedAtMs)
    .slice(0, MAX_NETWORKS);
  return storedNetworks.write(Object.fromEntries(newest));
}

const findName = async (): Promise<string> => (await readNetworkKey()) ?? UNRECOGNISED;
