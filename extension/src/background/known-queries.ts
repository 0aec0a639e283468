/** The query strings of loads, as far as they are known: stored with the load, or still in memory. */
import type { StoredLoad } from '../storage/loads.ts';
import { loadQueries } from '../storage/queries.ts';
import { hasQueries } from '../storage/strip-load.ts';

/** Whether a load has query strings, and all of them are known. */
export async function knowsQueries({ id, hidesQueries, recording }: StoredLoad): Promise<boolean> {
  return hidesQueries ? (await loadQueries(id)) !== null : hasQueries(recording);
}

/**
 * Reads the query strings that a load does not store itself, for `restoreLoad`.
 *
 * @param purpose for the message of the error, such as `verify`
 * @throws Error with a message to show when they are no longer known
 */
export async function readQueries({ id, hidesQueries }: StoredLoad, purpose: string): Promise<string[]> {
  if (!hidesQueries) return [];
  const queries = await loadQueries(id);
  if (queries === null) {
    throw new Error(`The query strings of this load are no longer known. Reload the page to ${purpose} it.`);
  }
  return queries;
}
