/** What is known of networks: of each that the helper recognises, and of the network that the browser is on if it does not. */
import { DAY_MS } from '@hopwise/contract';
import {
  type NetworkCluster,
  type NetworkWitnesses,
  parseCluster,
  poolClusters,
  poolForSite,
} from '@hopwise/pageload-emulator';
import { readAgeLimitMs } from './age-limit.ts';
import { readNetworkName, UNRECOGNISED } from './network-key.ts';
import { StoredItem } from './stored-item.ts';

/** The weight of a cluster halves each day, so an older one carries almost no information. */
const MAX_AGE_MS = 3 * DAY_MS;
/** How many networks are remembered: those that were used last. */
export const MAX_NETWORKS = 20;
/** Sites of which something is remembered of a network, those that were learned from last. */
const MAX_SITES = 8;

/** What is known of a network, kept apart by the site whose loads showed it: no site is believed about others by itself. */
export interface NetworkMemory {
  /** By site: what its loads showed, without those of others. */
  sites: Record<string, NetworkCluster>;
  /** What an active check showed. */
  check: NetworkCluster | null;
  /** The site of the page whose server that check asked; null once a server of another site has confirmed it, or shown otherwise. */
  checkedBy: string | null;
  /** Sites whose last loads were not like those of the others. */
  unlike: string[];
  /** The site of the last load, if that was not like those of the others. */
  doubtedBy: string | null;
}

export const NOTHING_KNOWN: NetworkMemory = {
  sites: {},
  check: null,
  checkedBy: null,
  unlike: [],
  doubtedBy: null,
};

type Networks = Record<string, NetworkMemory>;

const storedNetworks = new StoredItem<Networks>('own', 'networks', (value) =>
  Object.fromEntries(entriesOf(value).map(([name, each]) => [name, parseMemory(each)])),
);

/** What cannot be read is left out. */
function parseMemory(value: unknown): NetworkMemory {
  const { sites, check, checkedBy, unlike, doubtedBy } = Object.fromEntries(entriesOf(value));
  return {
    sites: Object.fromEntries(
      entriesOf(sites).flatMap(([site, each]): [string, NetworkCluster][] => {
        const cluster = parseCluster(each);
        return cluster === null ? [] : [[site, cluster]];
      }),
    ),
    check: parseCluster(check),
    checkedBy: typeof checkedBy === 'string' ? checkedBy : null,
    unlike: Array.isArray(unlike) ? unlike.filter((site) => typeof site === 'string') : [],
    doubtedBy: typeof doubtedBy === 'string' ? doubtedBy : null,
  };
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/**
 * Loads what is known of the network that the browser is on; null for nothing recent.
 *
 * @param site of a page that asks, whose own loads speak for it; null for what holds for all pages
 */
export async function loadNetwork(
  site: string | null = null,
  nowMs = Date.now(),
): Promise<NetworkCluster | null> {
  const memory = await loadNetworkMemory(nowMs);
  if (site === null) return poolClusters(listWitnesses(memory, null));
  const own = findSite(memory, site);
  return memory.unlike.includes(site) ? own : poolForSite(own, listWitnesses(memory, site));
}

/** Finds what the loads of a site showed. Hosts may have the names of what objects inherit, such as `constructor`. */
export const findSite = ({ sites }: NetworkMemory, site: string): NetworkCluster | null =>
  Object.hasOwn(sites, site) ? sites[site]! : null;

/** Lists what an active check showed, and what all sites but `but` did, without those that are unlike the rest. */
export function listWitnesses({ sites, check, unlike }: NetworkMemory, but: string | null): NetworkWitnesses {
  const others = Object.entries(sites).filter(([site]) => site !== but && !unlike.includes(site));
  return { sites: others.map(([, cluster]) => cluster), check };
}

/** Loads what is known, site by site, of the network that the browser is on. */
export async function loadNetworkMemory(nowMs = Date.now()): Promise<NetworkMemory> {
  const networks = await loadNetworks(nowMs);
  return networks[await readNetworkName()] ?? NOTHING_KNOWN;
}

/** How many other networks are remembered. */
export async function countOtherNetworks(): Promise<number> {
  const [networks, name] = await Promise.all([loadNetworks(Date.now()), readNetworkName()]);
  return Object.keys(networks).filter((each) => each !== name).length;
}

/** Saves what is known of the network that the browser is on. */
export async function saveNetworkMemory(memory: NetworkMemory): Promise<void> {
  const sites = Object.entries(memory.sites)
    .sort(([, a], [, b]) => b.updatedAtMs - a.updatedAtMs)
    .slice(0, MAX_SITES);
  const networks = await loadNetworks(Date.now());
  const unlike = memory.unlike.filter((site) => sites.some(([kept]) => kept === site));
  const kept = { ...memory, sites: Object.fromEntries(sites), unlike };
  await saveNetworks({ ...networks, [await readNetworkName()]: kept });
}

/** Forgets what loads of some sites showed, of all networks. */
export async function removeSites(isRemoved: (site: string) => boolean): Promise<void> {
  const networks = await loadNetworks(Date.now());
  const sites = Object.values(networks).flatMap((memory) => [
    ...Object.keys(memory.sites),
    ...(memory.checkedBy === null ? [] : [memory.checkedBy]),
  ]);
  if (!sites.some(isRemoved)) return;
  const left = Object.entries(networks).map(([name, memory]): [string, NetworkMemory] => {
    const { check, checkedBy } = memory;
    const isCheckKept = checkedBy === null || !isRemoved(checkedBy);
    return [
      name,
      {
        sites: Object.fromEntries(Object.entries(memory.sites).filter(([site]) => !isRemoved(site))),
        ...(isCheckKept ? { check, checkedBy } : { check: null, checkedBy: null }),
        unlike: memory.unlike.filter((site) => !isRemoved(site)),
        doubtedBy: null,
      },
    ];
  });
  await saveNetworks(Object.fromEntries(left));
}

/** Forgets the network that is not recognised: the browser is on another one now. @returns whether there was one */
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

/** Removes what is too old to be used. */
export async function removeExpiredNetworks(): Promise<void> {
  const networks = await loadNetworks(Date.now());
  if (JSON.stringify(networks) === JSON.stringify(await storedNetworks.read())) return;
  if (Object.keys(networks).length === 0) await storedNetworks.remove();
  else await saveNetworks(networks);
}

/** Those of which anything is known that is not too old. */
async function loadNetworks(nowMs: number): Promise<Networks> {
  const stored = await storedNetworks.read();
  const maxAgeMs = Math.min(MAX_AGE_MS, await readAgeLimitMs());
  // What is of the future was learned while the clock was wrong: it would be the freshest for as long.
  const isFresh = (cluster: NetworkCluster) => Math.abs(nowMs - cluster.updatedAtMs) < maxAgeMs;
  return Object.fromEntries(
    Object.entries(stored).flatMap(([name, memory]): [string, NetworkMemory][] => {
      const { sites, check } = memory;
      const fresh = Object.entries(sites).filter(([, cluster]) => isFresh(cluster));
      const freshCheck = check !== null && isFresh(check) ? check : null;
      if (fresh.length === 0 && freshCheck === null) return [];
      return [[name, { ...memory, sites: Object.fromEntries(fresh), check: freshCheck }]];
    }),
  );
}

function saveNetworks(networks: Networks): Promise<void> {
  const newest = Object.entries(networks)
    .sort(([, a], [, b]) => lastUseOf(b) - lastUseOf(a))
    .slice(0, MAX_NETWORKS);
  return storedNetworks.write(Object.fromEntries(newest));
}

const lastUseOf = ({ sites, check }: NetworkMemory): number =>
  Math.max(...[...Object.values(sites), ...(check ? [check] : [])].map(({ updatedAtMs }) => updatedAtMs), 0);
