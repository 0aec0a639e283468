import type { Verification } from '@hopwise/contract';
import type { NetworkCluster, Prediction, Recording } from '@hopwise/pageload-emulator';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

/** A page load with its prediction and verification. */
export interface StoredLoad {
  /** Assigned by the store, ascending. */
  id: number;
  /** URL of the navigation before redirects; `recording.url` is the final one. */
  requestedUrl: string;
  recording: Recording;
  /** Summary of the network from earlier loads; null for none, absent in loads that an earlier version stored. */
  cluster?: NetworkCluster | null;
  /** Null until the popup or panel first shows the load, and when the recording cannot be emulated. */
  prediction: Prediction | null;
  /** Why there is no prediction, '' otherwise. */
  problem: string;
  verification: Verification | null;
  /** Prediction with the network figures of the verification. */
  verifiedPrediction: Prediction | null;
}

/** Stored loads; older ones are removed. */
export const MAX_LOADS = 50;

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
    // Opening may succeed later, for example when the disk is no longer full.
    opened = null;
    throw error;
  });
  return opened;
}

/** Adds a load and removes the oldest beyond `MAX_LOADS`. @returns its id */
export async function addLoad(load: Omit<StoredLoad, 'id'>): Promise<number> {
  const tx = (await database()).transaction('loads', 'readwrite');
  const id = await tx.store.add(load as StoredLoad);
  let surplus = (await tx.store.count()) - MAX_LOADS;
  for (let cursor = await tx.store.openCursor(); cursor && surplus > 0; surplus--) {
    await cursor.delete();
    cursor = await cursor.continue();
  }
  await tx.done;
  return id;
}

/** Replaces fields of a load. @throws Error when it is no longer stored */
export async function updateLoad(id: number, change: Partial<Omit<StoredLoad, 'id'>>): Promise<StoredLoad> {
  const tx = (await database()).transaction('loads', 'readwrite');
  const load = await tx.store.get(id);
  if (!load) throw new Error(`load ${id} is no longer stored`);
  const changed = { ...load, ...change };
  await Promise.all([tx.store.put(changed), tx.done]);
  return changed;
}

export async function getLoad(id: number): Promise<StoredLoad | undefined> {
  return (await database()).get('loads', id);
}

/** Finds the newest load of a page, by its URL before or after redirects. */
export async function findNewestLoad(url: string): Promise<StoredLoad | undefined> {
  const tx = (await database()).transaction('loads');
  for (let cursor = await tx.store.openCursor(null, 'prev'); cursor; cursor = await cursor.continue()) {
    if (cursor.value.recording.url === url || cursor.value.requestedUrl === url) return cursor.value;
  }
  return undefined;
}

/** Returns all loads, oldest first. */
export async function getAllLoads(): Promise<StoredLoad[]> {
  return (await database()).getAll('loads');
}
