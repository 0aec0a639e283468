import { groupBy } from '@hopwise/contract';
import { siteKey } from '@hopwise/pageload-emulator';
import { type KnownLoad, type LoadSummary, summariseLoad } from '../load/load-summary.ts';
import type { StoredLoad } from '../load/stored-load.ts';
import { readAgeLimitMs } from './age-limit.ts';
import { openDatabase } from './database.ts';
import { maskQuery, removeUserinfoAndFragment } from './strip-urls.ts';

export { predictionOf, type StoredLoad } from '../load/stored-load.ts';

/** Stored loads; older ones are removed. */
export const MAX_LOADS = 50;

/** The most loads that a site keeps while others need room, so that no site's navigations remove what is known of the others. */
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

function isAllowed({ storedAtMs }: KnownLoad, { oldestMs, newestMs }: AllowedTimes): boolean {
  return storedAtMs >= oldestMs && storedAtMs <= newestMs;
}

/** Every change of a load is one of its summary, in the same transaction. */
async function startChange() {
  const tx = (await openDatabase()).transaction(['loads', 'summaries'], 'readwrite');
  const [loads, summaries] = [tx.objectStore('loads'), tx.objectStore('summaries')];
  return {
    loads,
    summaries,
    done: tx.done,
    put: (load: StoredLoad) => Promise.all([loads.put(load), summaries.put(summariseLoad(load))]),
    remove: (ids: readonly number[]) =>
      Promise.all(ids.flatMap((id) => [loads.delete(id), summaries.delete(id)])),
  };
}

/** Adds a load, and removes those that are too old and those beyond `MAX_LOADS`. @returns its id */
export async function addLoad(load: Omit<StoredLoad, 'id' | 'storedAtMs'>): Promise<number> {
  await removeExpiredLoads();
  const added = { ...load, storedAtMs: Date.now() } as StoredLoad;
  const summary = summariseLoad(added);
  const { loads, summaries, remove, done } = await startChange();
  const id = await loads.add(added);
  await summaries.put({ ...summary, id });
  if ((await summaries.count()) > MAX_LOADS) {
    const stored = await summaries.getAll();
    await remove(findSurplus(stored.map(({ id, recording }) => ({ id, site: siteKey(recording.url) }))));
  }
  await done;
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
  const { loads, put, done } = await startChange();
  const load = await loads.get(id);
  if (!load || !isAllowed(load, allowed)) throw new Error(`load ${id} is no longer stored`);
  const changed = { ...load, ...change };
  await Promise.all([put(changed), done]);
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
export async function findNewestSummary(
  url: string,
  isWanted: (load: LoadSummary) => boolean = () => true,
): Promise<LoadSummary | undefined> {
  return (await getSummaries()).findLast((load) => isOfPage(load, url) && isWanted(load));
}

/** The same with all that is stored of it. */
export async function findNewestLoad(url: string): Promise<StoredLoad | undefined> {
  const newest = await findNewestSummary(url);
  return newest && getLoad(newest.id);
}

/** Whether a load is of the page at a URL, see `findNewestSummary`. */
export function isOfPage({ requestedUrl, recording, hidesQueries }: KnownLoad, url: string): boolean {
  const comparable = hidesQueries ? maskQuery : removeUserinfoAndFragment;
  return [requestedUrl, recording.url].some((own) => comparable(own) === comparable(url));
}

/** Returns all loads, oldest first, which takes long: each has all of its requests. */
export async function getAllLoads(): Promise<StoredLoad[]> {
  const allowed = await readAllowedTimes();
  return (await (await openDatabase()).getAll('loads')).filter((load) => isAllowed(load, allowed));
}

/** Returns the summaries of all loads, oldest first. */
export async function getSummaries(): Promise<LoadSummary[]> {
  const allowed = await readAllowedTimes();
  return (await (await openDatabase()).getAll('summaries')).filter((load) => isAllowed(load, allowed));
}

/** Returns the ids of all loads, also of those that are too old and not yet removed. */
export async function listLoadIds(): Promise<number[]> {
  return (await openDatabase()).getAllKeys('loads');
}

/** Removes the loads that `isRemoved` selects. @returns the summaries of the removed loads */
export async function removeLoads(isRemoved: (load: LoadSummary) => boolean): Promise<LoadSummary[]> {
  const { summaries, remove, done } = await startChange();
  const removed = (await summaries.getAll()).filter(isRemoved);
  await Promise.all([remove(removed.map(({ id }) => id)), done]);
  return removed;
}

/** Removes the loads that are older than the user allows. */
export async function removeExpiredLoads(): Promise<void> {
  const { oldestMs, newestMs } = await readAllowedTimes();
  const { loads, remove, done } = await startChange();
  for (const range of [IDBKeyRange.upperBound(oldestMs, true), IDBKeyRange.lowerBound(newestMs, true)])
    await remove(await loads.index('storedAtMs').getAllKeys(range));
  await done;
}
