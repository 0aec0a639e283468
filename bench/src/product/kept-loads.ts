/** Loads as the extension exports them, in files that `hopwise predict` reads. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LoadExport } from '../../../extension/src/messages/load-messages.ts';
import type { StoredVisit } from './store.ts';

/** The visit that a load is of. */
export type VisitKey = Pick<StoredVisit, 'browser' | 'network' | 'page' | 'visit' | 'arm'>;

const fileOf = (dir: string, { browser, network, page, visit, arm }: VisitKey): string =>
  join(dir, 'loads', browser, network, page, `${visit}-${arm}.json`);

/** Keeps a load in a run's folder, in place of one of an earlier run. */
export async function keepLoad(dir: string, visit: VisitKey, load: LoadExport): Promise<void> {
  const file = fileOf(dir, visit);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(load));
}

/** @returns the text of a kept load; null where none was kept, as of arms without the extension */
export async function readKeptLoad(dir: string, visit: VisitKey): Promise<string | null> {
  return readFile(fileOf(dir, visit), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
