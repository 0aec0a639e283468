import { listLoadIds } from './loads.ts';

/**
 * Query strings of recent loads, which the stored loads do not contain. A verification requests the real URLs. They are in
 * `storage.session`: in memory only, and gone when the browser closes.
 */
const PREFIX = 'queries:';

/** Characters of all loads together: the browser limits `storage.session` to 10 MB, which the current loads of tabs share. */
const MAX_CHARS = 2 * 1024 * 1024;

/**
 * Adds the query strings of a load, and removes unused ones. Where the browser has no space for them, the load can only not be
 * verified.
 */
export async function saveQueries(loadId: number, queries: string[]): Promise<void> {
  try {
    if (queries.length > 0) await chrome.storage.session.set({ [PREFIX + loadId]: queries });
  } catch (error) {
    console.error('hopwise: query strings were not kept:', error);
  }
  await removeUnusedQueries();
}

/** Loads the query strings of a load; null when they are no longer known. */
export async function loadQueries(loadId: number): Promise<string[] | null> {
  const key = PREFIX + loadId;
  return ((await chrome.storage.session.get(key))[key] as string[] | undefined) ?? null;
}

/** Removes the query strings of loads that are no longer stored, and those of the oldest loads beyond `MAX_CHARS`. */
export async function removeUnusedQueries(): Promise<void> {
  const stored = await listQueries();
  // In this order, because a load is stored before its query strings.
  const loadIds = new Set(await listLoadIds());
  let chars = 0;
  const unused = stored.filter(({ loadId, queries }) => {
    chars += queries.reduce((sum, query) => sum + query.length, 0);
    return !loadIds.has(loadId) || chars > MAX_CHARS;
  });
  await chrome.storage.session.remove(unused.map(({ key }) => key));
}

/** All stored query strings, those of the newest load first. */
async function listQueries(): Promise<{ key: string; loadId: number; queries: string[] }[]> {
  const stored = Object.entries(await chrome.storage.session.get(null));
  return stored
    .filter(([key]) => key.startsWith(PREFIX))
    .map(([key, queries]) => ({
      key,
      loadId: Number(key.slice(PREFIX.length)),
      queries: queries as string[],
    }))
    .sort((a, b) => b.loadId - a.loadId);
}
