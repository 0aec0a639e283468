import { groupBy } from '@hopwise/contract';
import { siteKey } from '@hopwise/pageload-emulator';
import { readAgeLimitMs } from './age-limit.ts';
import { openDatabase } from './database.ts';
import type { StoredLoad } from './stored-load.ts';
import { maskQuery, removeUserinfoAndFragment } from './strip-urls.ts';

export type { StoredLoad } from './stored-load.ts';

/** Stored loads; older ones are removed. */
export const MAX_LOADS = 50;

/** Where others need the place, a site has this many at most: nobody's navigations remove what is known of all other sites. */
export const MAX_SITE_LOADS = MAX_LOADS / 4;

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
  const tx = (await openDatabase()).transaction('loads', 'readwrite');
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
  const tx = (await openDatabase()).transaction('loads', 'readwrite');
  const load = await tx.store.get(id);
  if (!load || !isAllowed(load, allowed)) throw new Error(`load ${id} is no longer stored`);
  const changed = { ...load, ...change };
  await Promise.all([tx.store.put(changed), tx.done]);
  return changed;
}

export async function getLoad(id: number): Promise<StoredLoad | undefined> {
  const allowed = await readAllowedTimes();
  const load = await (await openDatabase()).get('loads', id);
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
  const tx = (await openDatabase()).transaction('loads');
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
  return (await (await openDatabase()).getAll('loads')).filter((load) => isAllowed(load, allowed));
}

/** Returns the ids of all loads, also of those that are too old and not yet removed. */
export async function listLoadIds(): Promise<number[]> {
  return (await openDatabase()).getAllKeys('loads');
}

/** Removes the loads that `isRemoved` selects. @returns the removed loads */
export async function removeLoads(isRemoved: (load: StoredLoad) => boolean): Promise<StoredLoad[]> {
  const tx = (await openDatabase()).transaction('loads', 'readwrite');
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
  const tx = (await openDatabase()).transaction('loads', 'readwrite');
  for (const range of [IDBKeyRange.upperBound(oldestMs, true), IDBKeyRange.lowerBound(newestMs, true)]) {
    for (const id of await tx.store.index('storedAtMs').getAllKeys(range)) await tx.store.delete(id);
  }
  await tx.done;
}
