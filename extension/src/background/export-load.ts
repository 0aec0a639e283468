import type { LoadExport } from '../messages/load-messages.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { restoreLoad, stripLoad } from '../storage/strip-load.ts';
import { readQueries } from './known-queries.ts';

/**
 * A load as the file that "Export JSON" saves.
 *
 * @param withQueries whether URLs have their query strings
 * @throws Error with a message to show when query strings are no longer known
 */
export async function exportLoad(load: StoredLoad, withQueries: boolean): Promise<LoadExport> {
  const exported = withQueries ? restoreLoad(load, await readQueries(load, 'export')) : stripLoad(load);
  const {
    id: _id,
    requestedUrl: _requestedUrl,
    storedAtMs: _storedAtMs,
    networkKey: _networkKey,
    ...fields
  } = exported;
  return { format: 'hopwise-load', version: 1, ...fields };
}
