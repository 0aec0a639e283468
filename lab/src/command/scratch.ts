/** Scratch folders that say whose they are, so that those of a killed process can be told and removed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `lab` is a lab's, `run` all of one command's or of one Playwright worker's. */
export type ScratchKind = 'lab' | 'run';

/** Makes a scratch folder for this user alone, and removes those of every kind whose process is gone. */
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

/** Paths of the entries of `parent` whose process is gone. @param name of such entries, its first group a process id */
export async function staleFolders(parent: string, name: RegExp): Promise<string[]> {
  return (await readdir(parent))
    .filter((entry) => {
      const owner = name.exec(entry)?.[1];
      return owner !== undefined && !isAlive(Number(owner));
    })
    .map((entry) => join(parent, entry));
}

/** `removeScratch` for a folder of a process that is gone; one that cannot be removed now is left to a later run. */
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
