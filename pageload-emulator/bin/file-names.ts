import { printable } from '@hopwise/contract/terminal';

/** Columns that a name may take. */
const MAX_NAME = 48;
/** How many of them show the name's start where it is cut. */
const START = 15;

/**
 * Names that distinguish files in a column: without the folders that all share, and cut in the middle, as
 * paths differ at their ends. Names that would be the same when cut are whole.
 */
export function shortNames(files: readonly string[]): string[] {
  const shared = sharedFolders(files);
  const names = files.map((file) => printable(file.slice(shared), Number.POSITIVE_INFINITY));
  const cut = names.map((name) =>
    name.length > MAX_NAME ? `${name.slice(0, START)}…${name.slice(START + 1 - MAX_NAME)}` : name,
  );
  return new Set(cut).size === new Set(names).size ? cut : names;
}

/** Length of the folders, with their last slash, that all paths begin with. */
function sharedFolders([first = '', ...others]: readonly string[]): number {
  if (others.length === 0) return first.lastIndexOf('/') + 1;
  let length = first.lastIndexOf('/') + 1;
  while (length > 0 && !others.every((other) => other.startsWith(first.slice(0, length)))) {
    // A root has no folder above it, and lastIndexOf would find it again.
    length = length === 1 ? 0 : first.lastIndexOf('/', length - 2) + 1;
  }
  return length;
}
