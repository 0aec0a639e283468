import { authorityFolder, closeToOthers, removeFolder, removeKeys } from './authority-store.ts';
import { AuthorityError } from './private-file.ts';
import { rootName, type TrustOutcome, untrust } from './trust.ts';

export interface Removal {
  /** What the root was called in browsers' stores; '' when there was none, or none that can be read. */
  name: string;
  /** Whether there was anything to remove. */
  existed: boolean;
  /** Stores that trusted the root, and those that may still do. */
  stores: TrustOutcome[];
  /** Why nobody could tell which stores trust the root; '' when that was clear. */
  problem: string;
}

/**
 * Deletes the keys, has every store forget the root, deletes the folder. What a store that could not
 * be changed knows it by stays, for another try; without its keys the root vouches for nothing new.
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
