import { SerialQueue } from '@hopwise/contract';
import * as z from 'zod/mini';
import { listLoadIds } from './loads.ts';
import { StoredItem } from './stored-item.ts';

/**
 * Query strings of recent loads, which the stored loads do not contain. A verification requests the real URLs. They are in
 * `storage.session`: in memory only, and gone when the browser closes.
 */
const PREFIX = 'queries:';

/** Characters of all loads together: the browser limits `storage.session` to 10 MB, which the current loads of tabs share. */
const MAX_CHARS = 2 * 1024 * 1024;

const keptSchema = z.catch(z.array(z.object({ loadId: z.number(), chars: z.number() })), []);
/** Of which loads query strings are kept, the newest first, with their characters: reading the strings themselves takes long. */
const keptOf = new StoredItem('session', 'kept-queries', (value) => keptSchema.parse(value ?? []));

/** Changes of what is kept. */
const changes = new SerialQueue();

/**
 * Adds the query strings of a load, and removes unused ones. Where the browser has no space for them, the load can only not be
 * verified.
 */
export function saveQueries(loadId: number, queries: string[]): Promise<void> {
  const chars = queries.reduce((sum, query) => sum + query.length, 0);
  return changes.run(async () => {
    const others = (await keptOf.read()).filter((each) => each.loadId !== loadId);
    const kept = chars === 0 ? others : [{ loadId, chars }, ...others].sort((a, b) => b.loadId - a.loadId);
    // Named before they are stored: what is not named would stay.
    const used = await removeUnused(kept);
    try {
      if (used.some((each) => each.loadId === loadId))
        await chrome.storage.session.set({ [PREFIX + loadId]: queries });
    } catch (error) {
      console.error('hopwise: query strings were not kept:', error);
    }
  });
}

/** Loads the query strings of a load; null when they are no longer known. */
export async function loadQueries(loadId: number): Promise<string[] | null> {
  const key = PREFIX + loadId;
  return ((await chrome.storage.session.get(key))[key] as string[] | undefined) ?? null;
}

/** Removes the query strings of loads that are no longer stored, and those of the oldest loads beyond `MAX_CHARS`. */
export function removeUnusedQueries(): Promise<void> {
  return changes.run(async () => void (await removeUnused(await keptOf.read())));
}

type Kept = z.infer<typeof keptSchema>;

/** @param kept of which loads there are or will be query strings, the newest first. @returns those of them that stay */
async function removeUnused(kept: Kept): Promise<Kept> {
  const before = await keptOf.read();
  if (kept.length + before.length === 0) return [];
  // In this order, because a load is stored before its query strings.
  const loadIds = new Set(await listLoadIds());
  let sum = 0;
  const used = kept.filter(({ loadId, chars }) => {
    sum += chars;
    return loadIds.has(loadId) && sum <= MAX_CHARS;
  });
  const unused = [...kept, ...before].filter((each) => !used.some(({ loadId }) => loadId === each.loadId));
  if (unused.length > 0) await chrome.storage.session.remove(unused.map(({ loadId }) => PREFIX + loadId));
  if (JSON.stringify(used) !== JSON.stringify(before)) await keptOf.write(used);
  return used;
}
