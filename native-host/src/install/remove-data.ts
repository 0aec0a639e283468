import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dataDirectory, stateDirectory } from '../base/paths.ts';
import { removeAuthority } from '../ca/remove-authority.ts';

/**
 * Removes the local CA from browsers and deletes the host's data and state folders: CA, private libcurl, launcher and
 * log.
 *
 * @returns the folders that were removed, and a line for each browser that may still trust the CA.
 */
export async function removeData(): Promise<{ removed: string[]; left: string[] }> {
  const { stores, problem } = await removeAuthority();
  const left = stores.flatMap((store) => (store.problem ? [`${store.folder}: ${store.problem}`] : []));
  if (problem) left.push(`which browsers trusted the local CA is unknown: ${problem}`);
  const removed = [dataDirectory(), stateDirectory()].filter((folder) => existsSync(folder));
  for (const folder of removed) await rm(folder, { recursive: true });
  return { removed, left };
}
