/** One run at a time on a folder: a file with the process that works on it. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../start/errors.ts';

const LOCK_FILE = 'lock';

/**
 * Locks the folder; the lock of a process that is gone is taken over.
 *
 * @returns what unlocks it
 * @throws UserError naming the process that holds it
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const lock = join(dir, LOCK_FILE);
  const own = `${process.pid} ${await startOf(process.pid)}\n`;
  const draft = join(dir, `.${LOCK_FILE}-${randomUUID()}`);
  await writeFile(draft, own);
  try {
    for (let tries = 0; tries < 3; tries++) {
      try {
        // Unlike a file that is opened for writing, a link is there with its content or not at all.
        await link(draft, lock);
        return async () => {
          if ((await contentOf(lock)) === own) await rm(lock, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const held = await contentOf(lock);
      if (held === null) continue;
      const pid = await holderOf(held);
      if (pid !== null)
        throw new UserError(`${dir}: process ${pid} is measuring into this folder: wait for its end`);
      await removeStale(lock, held);
    }
    throw new UserError(`${dir}: another process keeps locking this folder: try again`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the lock that was found stale, and no other that took its place meanwhile. */
async function removeStale(lock: string, stale: string): Promise<void> {
  const aside = `${lock}-${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await contentOf(aside)) !== stale) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

async function contentOf(lock: string): Promise<string | null> {
  try {
    return await readFile(lock, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The process that a lock names, if it still runs. */
async function holderOf(content: string): Promise<number | null> {
  const [pid, start] = content.trim().split(' ');
  if (!/^\d+$/.test(pid ?? '')) return null;
  const running = await startOf(Number(pid));
  return running !== null && running === start ? Number(pid) : null;
}

/** When a process was started, in ticks since boot (proc(5), `starttime`), as pids are used again; null when it is gone. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name, may hold blanks and brackets; the 22nd is wanted.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
