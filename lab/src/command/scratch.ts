/** Scratch folders named after their process, so that those of killed processes can be recognised and removed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `lab`: of one lab; `run`: of one command or one Playwright worker. */
type ScratchKind = 'lab' | 'run';

/** Makes a scratch folder that only this user can read, and removes folders of any kind whose process has ended. */
export async function makeScratch(kind: ScratchKind, parent = tmpdir()): Promise<string> {
  for (const stale of await staleFolders(parent, /^hopwise-(?:lab|run)-(\d+)-\w{6}$/)) {
    await removeStale(stale);
  }
  return mkdtemp(join(parent, `hopwise-${kind}-${process.pid}-`));
}

/** Removes a scratch folder; a browser that is ending may still write to it. */
export function removeScratch(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Paths of the entries of `parent` whose process has ended. @param name of such entries, its first group a process id */
export async function staleFolders(parent: string, name: RegExp): Promise<string[]> {
  return (await readdir(parent))
    .filter((entry) => {
      const owner = name.exec(entry)?.[1];
      return owner !== undefined && !isAlive(Number(owner));
    })
    .map((entry) => join(parent, entry));
}

/** `removeScratch` for a folder whose process has ended; if removal fails, a later run tries again. */
export async function removeStale(folder: string): Promise<void> {
  await removeScratch(folder).catch((error: NodeJS.ErrnoException) => {
    // Another user's, or still written to.
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(error.code ?? '')) throw error;
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
