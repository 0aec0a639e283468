/** One run at a time on a folder: a file with the process that works on it. */
import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from './errors.ts';

const LOCK_FILE = 'lock';

/**
 * Locks the folder; the lock of a process that has ended is taken over.
 *
 * @returns what unlocks it
 * @throws UserError naming the process that holds it
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const draft = join(dir, `.${LOCK_FILE}-${randomUUID()}`);
  await writeFile(draft, `${process.pid} ${await startOf(process.pid)}\n`);
  try {
    const holder = await acquire(join(dir, LOCK_FILE), draft);
    if (holder !== null) {
      throw new UserError(`${dir}: process ${holder} is measuring into this folder: wait for its end`);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return () => rm(join(dir, LOCK_FILE), { force: true });
}

/** @returns null once `lock` is a link to `draft`, or the process that keeps it from being one. */
async function acquire(lock: string, draft: string): Promise<number | null> {
  for (;;) {
    // A link, unlike a file opened for writing, never exists without its content.
    if (await linked(draft, lock)) return null;
    const held = await contentOf(lock);
    // Unlocked just now.
    if (held === null) continue;
    const holder = await holderOf(held);
    if (holder !== null) return holder;
    // Several processes may find the lock stale: a second lock decides which one replaces it.
    const claim = `${lock}-${createHash('sha256').update(held).digest('hex').slice(0, 8)}`;
    const claimant = await acquire(claim, draft);
    if (claimant !== null) return claimant;
    try {
      if ((await contentOf(lock)) === held) {
        const replacement = `${draft}-replacement`;
        await link(draft, replacement);
        await rename(replacement, lock);
        return null;
      }
    } finally {
      await rm(claim, { force: true });
    }
  }
}

async function linked(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
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
    // The second field, the program's name, may contain blanks and brackets; the start time is the 22nd.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
