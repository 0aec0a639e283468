import { DAY_MS } from '@hopwise/contract';
import { type ClusterState, Explorer, readCluster } from '@hopwise/model';
import * as z from 'zod/mini';
import { readAgeLimitMs } from '../../storage/age-limit.ts';
import { MAX_NETWORKS } from '../../storage/network.ts';
import { ownStorage } from '../../storage/own-storage.ts';

/** In `storage.session` for the network that is not recognised, as pins are; in `ownStorage`, with the key behind it, for others. */
const NAME = 'autopilot-explorer';
const PREFIX = `${NAME}:`;

/** The pages that were loaded last are kept. */
const MAX_PAGES = 100;
/** Pages and networks change: what is older is no evidence. */
const MAX_AGE_MS = 3 * DAY_MS;

const storedSchema = z.object({
  /** When a load was last learned from, milliseconds since 1970. */
  usedAtMs: z.number(),
  /** Pairs: browsers return the keys of stored objects in alphabetical order. */
  scales: z.array(z.tuple([z.string(), z.number().check(z.positive())])),
  clusters: z.record(z.string(), z.unknown()),
});

/** What loads on a network have shown. */
export interface Experience {
  explorer: Explorer;
  /** Load time by page by which pages are compared, milliseconds; the page that was loaded last is the last one. */
  scalesMs: Map<string, number>;
}

export interface StoredExperience extends Experience {
  /** Names the network; null for the one that is not recognised. */
  key: string | null;
  usedAtMs: number;
}

/**
 * @param key of the network; null for the one that is not recognised
 * @returns an empty one for what cannot be read or is too old
 */
export async function readExperience(key: string | null): Promise<Experience> {
  const name = nameOf(key);
  const stored = parseExperience((await areaOf(key).get(name))[name], await findOldestMs());
  return stored ?? { explorer: new Explorer(), scalesMs: new Map() };
}

export async function saveExperience(key: string | null, { explorer, scalesMs }: Experience): Promise<void> {
  for (const page of [...scalesMs.keys()].slice(0, -MAX_PAGES)) {
    scalesMs.delete(page);
    explorer.forget(page);
  }
  const stored = {
    usedAtMs: Date.now(),
    scales: [...scalesMs],
    clusters: Object.fromEntries(explorer.clusters),
  };
  await areaOf(key).set({ [nameOf(key)]: stored });
}

export async function forgetExperience(key: string | null): Promise<void> {
  await areaOf(key).remove(nameOf(key));
}

/** Those of all networks, the one that was used last first. */
export async function listExperiences(): Promise<StoredExperience[]> {
  return listAmong(await ownStorage.get(null));
}

/** @param local everything in `ownStorage` */
async function listAmong(local: Record<string, unknown>): Promise<StoredExperience[]> {
  const oldestMs = await findOldestMs();
  const inSession = parseExperience((await chrome.storage.session.get(NAME))[NAME], oldestMs);
  const recognised = Object.entries(local).flatMap(([name, value]): StoredExperience[] => {
    const stored = name.startsWith(PREFIX) ? parseExperience(value, oldestMs) : null;
    return stored === null ? [] : [{ ...stored, key: name.slice(PREFIX.length) }];
  });
  return [...(inSession === null ? [] : [{ ...inSession, key: null }]), ...recognised].sort(
    (a, b) => b.usedAtMs - a.usedAtMs,
  );
}

/** Forgets networks that are too old to be used, and the oldest beyond `MAX_NETWORKS`. */
export async function removeExpiredExperiences(): Promise<void> {
  const local = await ownStorage.get(null);
  const kept = new Set((await listAmong(local)).slice(0, MAX_NETWORKS).map(({ key }) => key));
  const names = Object.keys(local).filter(
    (name) => name.startsWith(PREFIX) && !kept.has(name.slice(PREFIX.length)),
  );
  if (names.length > 0) await ownStorage.remove(names);
}

const areaOf = (key: string | null) => (key === null ? chrome.storage.session : ownStorage);
const nameOf = (key: string | null): string => (key === null ? NAME : PREFIX + key);

async function findOldestMs(): Promise<number> {
  return Date.now() - Math.min(MAX_AGE_MS, await readAgeLimitMs());
}

function parseExperience(value: unknown, oldestMs: number): Omit<StoredExperience, 'key'> | null {
  const stored = storedSchema.safeParse(value);
  if (!stored.success || stored.data.usedAtMs < oldestMs) return null;
  const { usedAtMs, scales, clusters } = stored.data;
  const states = Object.entries(clusters).map(([name, state]): [string, ClusterState] => [
    name,
    readCluster(state),
  ]);
  return { usedAtMs, explorer: new Explorer(new Map(states)), scalesMs: new Map(scales) };
}
