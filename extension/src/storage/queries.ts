import { listLoadIds } from './loads.ts';

/**
 * Query strings of recent loads, which the stored loads do not contain: a verification requests the real URLs. They are in the worker's
 * memory alone; when the browser has stopped it, the page that is still open is asked again (`background/recover-queries.ts`).
 */
const known = new Map<number, string[]>();

/** Characters of all loads together. */
const MAX_CHARS = 2 * 1024 * 1024;

/** Remembers the query strings of a load, and forgets unused ones. */
export async function saveQueries(loadId: number, queries: string[]): Promise<void> {
  if (queries.length === 0) known.delete(loadId);
  else known.set(loadId, queries);
  await removeUnusedQueries();
}

/** Returns the query strings of a load; null when they are not known. */
export function findQueries(loadId: number): string[] | null {
  return known.get(loadId) ?? null;
}

/** Forgets the query strings of loads that are no longer stored, and those of the oldest loads beyond `MAX_CHARS`. */
export async function removeUnusedQueries(): Promise<void> {
  if (known.size === 0) return;
  const stored = new Set(await listLoadIds());
  let sum = 0;
  for (const [loadId, queries] of [...known].sort(([a], [b]) => b - a)) {
    sum += queries.reduce((chars, query) => chars + query.length, 0);
    if (!stored.has(loadId) || sum > MAX_CHARS) known.delete(loadId);
  }
}
