/** Scratch folders that say whose they are, so that those of a killed process can be told and removed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `lab` is a lab's, `run` all of one `npm start`'s. */
export type ScratchKind = 'lab' | 'run';

const NAME = /^hopwise-(?:lab|run)-(\d+)-\w{6}$/;

/** Makes a scratch folder for this user alone, and removes those of every kind whose process is gone. */
export async function makeScratch(kind: ScratchKind, parent = tmpdir()): Promise<string> {
  await removeStale(parent);
  return mkdtemp(join(parent, `hopwise-${kind}-${process.pid}-`));
}

/** Removes a scratch folder; a browser that is ending may still write to it. */
export function removeScratch(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const owner = NAME.exec(name)?.[1];
    if (!owner || isAlive(Number(owner))) continue;
    await removeScratch(join(parent, name)).catch((error: NodeJS.ErrnoException) => {
      // Another user's, or still written to: a later run removes it.
      if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(error.code ?? '')) throw error;
    });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
