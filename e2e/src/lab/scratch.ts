/** Scratch folders that say whose they are, so that those of a killed process can be told and removed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'hopwise-lab-';

/** Makes a scratch folder for this user alone, and removes those whose process is gone. */
export async function makeScratch(parent = tmpdir()): Promise<string> {
  await removeStale(parent);
  return mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
}

async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-\\w{6}$`).exec(name)?.[1];
    if (!owner || isAlive(Number(owner))) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
      // Another user's, whose next run removes it.
      if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
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
