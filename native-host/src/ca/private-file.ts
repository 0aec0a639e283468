/** Files that only their owner can read or replace. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { launcherCommand } from '../base/launcher.ts';

export const PRIVATE_FOLDER_MODE = 0o700;
export const PRIVATE_FILE_MODE = 0o600;
const OTHERS = 0o077;

/** An authority that must not be used: the problem and the fix, each in one line. */
export class AuthorityError extends Error {
  readonly problem: string;
  readonly fix: string;

  constructor(problem: string, fix: string) {
    super(`${problem}: ${fix}`);
    this.problem = problem;
    this.fix = fix;
  }
}

/** @throws AuthorityError unless `path` is a folder that only this user can access. */
export function checkPrivateFolder(path: string): void {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw new AuthorityError(`${path} is not a folder`, 'remove it');
  checkOwner(path, stats, PRIVATE_FOLDER_MODE);
}

/**
 * The text of a file that only this user can read. The open file is checked, so that it is the one that is read.
 *
 * @throws AuthorityError when others can reach it; the error of `node:fs` when it cannot be read.
 */
export function readPrivateFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new AuthorityError(`${path} is not a file`, 'remove it');
    checkOwner(path, stats, PRIVATE_FILE_MODE);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Windows has no such modes: there the access list of a user's data folder excludes other users. */
function checkOwner(path: string, stats: Stats, mode: number): void {
  if (!process.getuid) return;
  if (stats.uid !== process.getuid()) {
    throw new AuthorityError(`${path} belongs to another user`, 'have it removed');
  }
  if ((stats.mode & OTHERS) !== 0) {
    const found = (stats.mode & 0o777).toString(8);
    throw new AuthorityError(
      `${path} is open to other users (mode ${found}), who may have read its keys`,
      `run: ${launcherCommand('ca remove')}; or, if no other user can have read it: chmod ${mode.toString(8)} '${path}'`,
    );
  }
}
