import {
  type Assignment,
  groupBy,
  type Language,
  type MeasuredNetwork,
  type Verification,
} from '@hopwise/contract';
import { type NetworkCluster, type Prediction, type Recording, siteKey } from '@hopwise/pageload-emulator';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { readAgeLimitMs } from './age-limit.ts';
import { maskQuery, removeUserinfoAndFragment } from './strip-urls.ts';

/** A page load with its prediction and verification. */
export interface StoredLoad {
  /** Assigned by the store, ascending. */
  id: number;
  /** URL of the navigation before redirects; `recording.url` is the final one. */
  requestedUrl: string;
  recording: Recording;
  /** Whether numbers stand in place of the query strings in `requestedUrl` and `recording`, see `UrlStripper`. */
  hidesQueries: boolean;
  /** When it was first stored, milliseconds since 1970. */
  storedAtMs: number;
  /**
   * `local`: requests went to this machine or a private address; `unknown`: nothing was requested over a network, or through the
   * helper from origins that may have such an address. Absent in loads that an earlier version stored.
   */
  network?: 'internet' | 'local' | 'unknown';
  /** Key of the network, as the helper recognises it; null or absent if it does not. */
  networkKey?: string | null;
  /** Summary of the network from earlier loads; null for none, absent in loads that an earlier version stored. */
  cluster?: NetworkCluster | null;
  /**
   * Protocols that pins held the page's origins to, empty without pins; null when pins changed during the load, or did not hold. Absent
   * in loads that an earlier version stored.
   */
  pinned?: Assignment | null;
  /** Whether its tab was shown when the load settled; absent in loads that an earlier version stored. */
  wasVisible?: boolean;
  /** Whether every request was observed, and what made it, and not the page's own timings alone; absent for true. */
  isDetailed?: boolean;
  /** What the check of its network has measured; absent for none. */
  check?: MeasuredNetwork;
  /** Null until the popup or panel first shows the load, and when the recording cannot be emulated. */
  prediction: Prediction | null;
  /** Why there is no prediction, '' otherwise. */
  problem: string;
  verification: Verification | null;
  /** Prediction with the network figures of the verification. */
  verifiedPrediction: Prediction | null;
  /** In which the predictions' sentences are written; absent for English in loads that an earlier version predicted. */
  language?: Language;
}

/** Stored loads; older ones are removed. */
export const MAX_LOADS = 50;

/** Where others need the place, a site has this many at most: nobody's navigations remove what is known of all other sites. */
export const MAX_SITE_LOADS = MAX_LOADS / 4;

/** Version 1 stored URLs with their query strings; version 2 had no index of URLs. */
const VERSION = 3;

interface Schema extends DBSchema {
  loads: { key: number; value: StoredLoad; indexes: { storedAtMs: number; url: string } };
}

let opened: Promise<IDBPDatabase<Schema>> | null = null;

function database(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('hopwise', VERSION, {
    upgrade(db, oldVersion, _newVersion, tx) {
      if (oldVersion === 1) db.deleteObjectStore('loads');
      if (oldVersion < 2) {
        const store = db.createObjectStore('loads', { keyPath: 'id', autoIncrement: true });
        store.createIndex('storedAtMs', 'storedAtMs');
      }
      tx.objectStore('loads').createIndex('url', 'recording.url');
    },
    terminated() {
      opened = null;
    },
  }).catch((error) => {
    // Opening may succeed later, for example when the disk is no longer full.
    opened = null;
    throw error;
  });
  return opened;
}

/** When loads must have been stored not to be too old, milliseconds since 1970. */
interface AllowedTimes {
  oldestMs: number;
  newestMs: number;
}

async function readAllowedTimes(): Promise<AllowedTimes> {
  const ageLimitMs = await readAgeLimitMs();
  // A load from the future was stored while the clock was wrong: its age is not known.
  return { oldestMs: Date.now() - ageLimitMs, newestMs: Date.now() + ageLimitMs };
}

function isAllowed({ storedAtMs }: StoredLoad, { oldestMs, newestMs }: AllowedTimes): boolean {
  return storedAtMs >= oldestMs && storedAtMs <= newestMs;
}

/** The prediction to show: the one that rests on a verification where there is one. */
export const predictionOf = ({
  verifiedPrediction,
  prediction,
}: Pick<StoredLoad, 'verifiedPrediction' | 'prediction'>) => verifiedPrediction ?? prediction ?? null;

/** Adds a load, and removes those that are too old and those beyond `MAX_LOADS`. @returns its id */
export async function addLoad(load: Omit<StoredLoad, 'id' | 'storedAtMs'>): Promise<number> {
  await removeExpiredLoads();
  const tx = (await database()).transaction('loads', 'readwrite');
  const id = await tx.store.add({ ...load, storedAtMs: Date.now() } as StoredLoad);
  if ((await tx.store.count()) > MAX_LOADS) {
    // By the index alone: the loads themselves are large.
    const stored: { id: number; site: string }[] = [];
    for (let cursor = await tx.store.index('url').openKeyCursor(); cursor; cursor = await cursor.continue())
      stored.push({ id: cursor.primaryKey, site: siteKey(cursor.key) });
    for (const surplus of findSurplus(stored)) await tx.store.delete(surplus);
  }
  await tx.done;
  return id;
}

/** Finds the loads beyond `MAX_LOADS`: the oldest of the site that has most of them, or of all where no site has more than its share. */
function findSurplus(stored: readonly { id: number; site: string }[]): number[] {
  const left = stored.toSorted((a, b) => a.id - b.id);
  const surplus: number[] = [];
  while (left.length > MAX_LOADS) {
    const largest = [...groupBy(left, ({ site }) => site).values()].reduce((a, b) =>
      b.length > a.length ? b : a,
    );
    const oldest = largest.length > MAX_SITE_LOADS ? largest[0]! : left[0]!;
    surplus.push(oldest.id);
    left.splice(left.indexOf(oldest), 1);
  }
  return surplus;
}

/** Replaces fields of a load. @throws Error when it is no longer stored */
export async function updateLoad(
  id: number,
  change: Partial<Omit<StoredLoad, 'id' | 'storedAtMs'>>,
): Promise<StoredLoad> {
  const allowed = await readAllowedTimes();
  const tx = (await database()).transaction('loads', 'readwrite');
  const load = await tx.store.get(id);
  if (!load || !isAllowed(load, allowed)) throw new Error(`load ${id} is no longer stored`);
  const changed = { ...load, ...change };
  await Promise.all([tx.store.put(changed), tx.done]);
  return changed;
}

export async function getLoad(id: number): Promise<StoredLoad | undefined> {
  const allowed = await readAllowedTimes();
  const load = await (await database()).get('loads', id);
  return load && isAllowed(load, allowed) ? load : undefined;
}

/**
 * Finds the newest load of a page, by its URL before or after redirects. Where the query string is not stored, all URLs that
 * differ in it alone are of one page.
 *
 * @param isWanted leaves out others
 */
export async function findNewestLoad(
  url: string,
  isWanted: (load: StoredLoad) => boolean = () => true,
): Promise<StoredLoad | undefined> {
  const allowed = await readAllowedTimes();
  const tx = (await database()).transaction('loads');
  for (let cursor = await tx.store.openCursor(null, 'prev'); cursor; cursor = await cursor.continue()) {
    const load = cursor.value;
    if (isAllowed(load, allowed) && isOfPage(load, url) && isWanted(load)) return load;
  }
  return undefined;
}

/** Whether a load is of the page at a URL, see `findNewestLoad`. */
export function isOfPage({ requestedUrl, recording, hidesQueries }: StoredLoad, url: string): boolean {
  const comparable = hidesQueries ? maskQuery : removeUserinfoAndFragment;
  return [requestedUrl, recording.url].some((own) => comparable(own) === comparable(url));
}

/** Returns all loads, oldest first. */
export async function getAllLoads(): Promise<StoredLoad[]> {
  const allowed = await readAllowedTimes();
  return (await (await database()).getAll('loads')).filter((load) => isAllowed(load, allowed));
}

/** Returns the ids of all loads, also of those that are too old and not yet removed. */
export async function listLoadIds(): Promise<number[]> {
  return (await database()).getAllKeys('loads');
}

/** Removes the loads that `isRemoved` selects. @returns the removed loads */
export async function removeLoads(isRemoved: (load: StoredLoad) => boolean): Promise<StoredLoad[]> {
  const tx = (await database()).transaction('loads', 'readwrite');
  const removed: StoredLoad[] = [];
  for (let cursor = await tx.store.openCursor(); cursor; cursor = await cursor.continue()) {
    if (!isRemoved(cursor.value)) continue;
    removed.push(cursor.value);
    await cursor.delete();
  }
  await tx.done;
  return removed;
}

/** Removes the loads that are older than the user allows. */
export async function removeExpiredLoads(): Promise<void> {
  const { oldestMs, newestMs } = await readAllowedTimes();
  const tx = (await database()).transaction('loads', 'readwrite');
  for (const range of [IDBKeyRange.upperBound(oldestMs, true), IDBKeyRange.lowerBound(newestMs, true)]) {
    for (const id of await tx.store.index('storedAtMs').getAllKeys(range)) await tx.store.delete(id);
  }
  await tx.done;
}
