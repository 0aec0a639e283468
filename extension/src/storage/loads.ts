import type { Verification } from '@hopwise/contract';
import type { NetworkCluster, Prediction, Recording } from '@hopwise/pageload-emulator';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

/** A page load with what was made of it. */
export interface StoredLoad {
  /** Given by the store, rising. */
  id: number;
  /** URL that the navigation asked for; `recording.url` is where it led. */
  requestedUrl: string;
  recording: Recording;
  /** What earlier loads told of its network; null for nothing, absent where an earlier version stored it. */
  cluster?: NetworkCluster | null;
  /** Null until somebody looked, and when the recording could not be emulated. */
  prediction: Prediction | null;
  /** Why there is no prediction, '' otherwise. */
  problem: string;
  verification: Verification | null;
  /** Prediction with what the verification measured. */
  verifiedPrediction: Prediction | null;
}

/** Loads that are kept; older ones are removed. */
export const KEPT_LOADS = 50;

interface Schema extends DBSchema {
  loads: { key: number; value: StoredLoad };
}

let opened: Promise<IDBPDatabase<Schema>> | null = null;

function database(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('hopwise', 1, {
    upgrade(db) {
      db.createObjectStore('loads', { keyPath: 'id', autoIncrement: true });
    },
    terminated() {
      opened = null;
    },
  }).catch((error) => {
    // The disk may be full now and not the next time.
    opened = null;
    throw error;
  });
  return opened;
}

/** Adds a load and removes the oldest beyond `KEPT_LOADS`. @returns its id */
export async function addLoad(load: Omit<StoredLoad, 'id'>): Promise<number> {
  const tx = (await database()).transaction('loads', 'readwrite');
  const id = await tx.store.add(load as StoredLoad);
  let surplus = (await tx.store.count()) - KEPT_LOADS;
  for (let cursor = await tx.store.openCursor(); cursor && surplus > 0; surplus--) {
    await cursor.delete();
    cursor = await cursor.continue();
  }
  await tx.done;
  return id;
}

/** Replaces fields of a load. @throws Error when it is no longer kept */
export async function updateLoad(id: number, change: Partial<Omit<StoredLoad, 'id'>>): Promise<StoredLoad> {
  const tx = (await database()).transaction('loads', 'readwrite');
  const load = await tx.store.get(id);
  if (!load) throw new Error(`load ${id} is no longer kept`);
  const changed = { ...load, ...change };
  await Promise.all([tx.store.put(changed), tx.done]);
  return changed;
}

export async function getLoad(id: number): Promise<StoredLoad | undefined> {
  return (await database()).get('loads', id);
}

/** The newest load of a page, by the URL asked for or the URL it led to. */
export async function newestLoadOf(url: string): Promise<StoredLoad | undefined> {
  const tx = (await database()).transaction('loads');
  for (let cursor = await tx.store.openCursor(null, 'prev'); cursor; cursor = await cursor.continue()) {
    if (cursor.value.recording.url === url || cursor.value.requestedUrl === url) return cursor.value;
  }
  return undefined;
}

/** All loads, oldest first. */
export async function allLoads(): Promise<StoredLoad[]> {
  return (await database()).getAll('loads');
}
