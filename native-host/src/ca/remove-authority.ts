import { authorityFolder, closeToOthers, removeFolder, removeKeys } from './authority-store.ts';
import { AuthorityError } from './private-file.ts';
import { rootName, type TrustOutcome, untrust } from './trust.ts';

export interface Removal {
  /** Name of the root in browsers' stores; '' when there was none, or none that can be read. */
  name: string;
  /** Whether there was anything to remove. */
  existed: boolean;
  /** Stores that trusted the root, and those that may still trust it. */
  stores: TrustOutcome[];
  /** Why it is unknown which stores trust the root; '' when it is known. */
  problem: string;
}

/**
 * Deletes the keys, removes the root from every store and deletes the folder. If a store could not be changed, the files that
 * identify the root stay for another attempt; without its keys the root can issue nothing new.
 */
export async function removeAuthority(folder: string = authorityFolder()): Promise<Removal> {
  await removeKeys(folder);
  await closeToOthers(folder);
  let name = '';
  let stores: TrustOutcome[] = [];
  let problem = '';
  try {
    name = rootName(folder);
    stores = await untrust();
  } catch (fault) {
    if (!(fault instanceof AuthorityError)) throw fault;
    problem = fault.problem;
  }
  const left = stores.some((store) => store.problem !== '');
  return { name, existed: left || (await removeFolder(folder)), stores, problem };
}
