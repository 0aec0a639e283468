/** Makes browsers' stores trust the root, and undoes it. */

import { existsSync } from 'node:fs';
import { explainMissing } from './authority-status.ts';
import { authorityFolder, readRoot, rootFile } from './authority-store.ts';
import { commonName } from './certificate.ts';
import {
  addCommand,
  addTrusted,
  CertutilError,
  findCertutil,
  isTrusted,
  removeCommand,
  removeNamed,
} from './certutil.ts';
import { readTrustRecord, writeTrustRecord } from './trust-record.ts';
import { foundStores, type TrustStore } from './trust-stores.ts';

/** The outcome for one store. */
export interface TrustOutcome extends TrustStore {
  trusted: boolean;
  /** Whether this call changed it. */
  changed: boolean;
  /** Why the store could not be changed as requested, with the fix; '' on success. */
  problem: string;
}

/** @throws AuthorityError for an authority that must not be used; Error in one line when there is none. */
export async function trust(stores: readonly TrustStore[]): Promise<TrustOutcome[]> {
  const folder = authorityFolder();
  const name = rootName(folder);
  if (!name) throw new Error(explainMissing());
  const recorded = readTrustRecord(folder);
  const fresh = stores.filter((store) => !recorded.some((known) => known.folder === store.folder));
  await writeTrustRecord(folder, [...recorded, ...fresh.map(({ folder, browser }) => ({ folder, browser }))]);
  const file = rootFile(folder);
  return tryEach(
    stores,
    async (store) => {
      const changed = !(await isTrusted(store.folder, name));
      if (changed) await addTrusted(store.folder, name, file);
      return { trusted: true, changed };
    },
    (store, { message }) => ({
      trusted: false,
      problem: `${message}; with the password of the store: ${addCommand(store.folder, name, file)}`,
    }),
  );
}

/**
 * Removes the root from these stores, or from every recorded store and every one that is found.
 *
 * @returns the stores that held it, and those that could not be read and may hold it.
 * @throws AuthorityError for a record that cannot be read.
 */
export async function untrust(stores?: readonly TrustStore[]): Promise<TrustOutcome[]> {
  const folder = authorityFolder();
  const name = rootName(folder);
  if (!name) return [];
  const recorded = readTrustRecord(folder);
  const outcomes = await tryEach(
    stores ?? everyStore(recorded),
    async (store) => ({ trusted: false, changed: await removeNamed(store.folder, name) }),
    (store, { message }) => ({
      trusted: true,
      problem: `${message}; by hand: ${removeCommand(store.folder, name)}`,
    }),
  );
  const done = new Set(outcomes.filter(({ problem }) => problem === '').map((outcome) => outcome.folder));
  const left = recorded.filter((store) => !done.has(store.folder) && existsSync(store.folder));
  if (left.length < recorded.length) await writeTrustRecord(folder, left);
  return outcomes.filter(({ changed, problem }) => changed || problem !== '');
}

/** The trust of every recorded store and every one that is found; empty without certutil. */
export async function trustNow(): Promise<TrustOutcome[]> {
  const folder = authorityFolder();
  const name = rootName(folder);
  if (!name || !findCertutil()) return [];
  return tryEach(
    everyStore(readTrustRecord(folder)),
    async (store) => ({ trusted: await isTrusted(store.folder, name), changed: false }),
    (_store, { message }) => ({ trusted: false, problem: message }),
  );
}

/** The root's name in stores; '' without a root. */
export function rootName(folder: string = authorityFolder()): string {
  const root = readRoot(folder);
  return root ? commonName(root) : '';
}

/** The recorded stores that still exist, and those that are found; without certutil only the former. */
function everyStore(recorded: readonly TrustStore[]): TrustStore[] {
  const found = findCertutil() ? foundStores() : [];
  const others = found.filter(({ folder }) => !recorded.some((known) => known.folder === folder));
  return [...recorded.filter(({ folder }) => existsSync(folder)), ...others];
}

async function tryEach(
  stores: readonly TrustStore[],
  act: (store: TrustStore) => Promise<Pick<TrustOutcome, 'trusted' | 'changed'>>,
  explain: (store: TrustStore, fault: CertutilError) => Pick<TrustOutcome, 'trusted' | 'problem'>,
): Promise<TrustOutcome[]> {
  const outcomes: TrustOutcome[] = [];
  for (const { folder, browser } of stores) {
    const store = { folder, browser };
    try {
      outcomes.push({ ...store, ...(await act(store)), problem: '' });
    } catch (fault) {
      if (!(fault instanceof CertutilError)) throw fault;
      outcomes.push({ ...store, changed: false, ...explain(store, fault) });
    }
  }
  return outcomes;
}
