/** The query strings of loads, as far as they are known: stored with the load, still in memory, or known to the page itself. */
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { findQueries, saveQueries } from '../storage/queries.ts';
import { hasQueries } from '../storage/strip-load.ts';
import { recoverQueries } from './recover-queries.ts';

/** Loads whose query strings are surely no longer known. */
const lost = new Set<number>();

async function findOrRecover(load: StoredLoad): Promise<string[] | null> {
  const known = findQueries(load.id);
  if (known !== null || lost.has(load.id)) return known;
  const recovered = await recoverQueries(load);
  if (recovered === null) lost.add(load.id);
  else await saveQueries(load.id, recovered);
  return recovered;
}

/** Whether a load has query strings, and all of them are known. */
export async function knowsQueries(load: StoredLoad): Promise<boolean> {
  return load.hidesQueries ? (await findOrRecover(load)) !== null : hasQueries(load.recording);
}

/**
 * Reads the query strings that a load does not store itself, for `restoreLoad`.
 *
 * @param purpose for the message of the error
 * @throws Error with a message to show when they are no longer known
 */
export async function readQueries(load: StoredLoad, purpose: 'verify' | 'export'): Promise<string[]> {
  if (!load.hidesQueries) return [];
  const queries = await findOrRecover(load);
  if (queries === null)
    throw new ShownError(() => t(purpose === 'verify' ? 'queriesLostVerify' : 'queriesLostExport'));
  return queries;
}
