import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dataDirectory, stateDirectory } from '../paths.ts';

/**
 * Removes the host's data and state folders: private libcurl, launcher and log.
 *
 * @returns the folders that were removed.
 */
export async function removeData(): Promise<string[]> {
  const folders = [dataDirectory(), stateDirectory()].filter((folder) => existsSync(folder));
  for (const folder of folders) await rm(folder, { recursive: true });
  return folders;
}
