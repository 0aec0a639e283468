/** One set-up at a time: two at once would install into the same folders. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT, SetupError } from './programs.mjs';

/** Holds the id of the process that is setting up. */
const LOCK = join(ROOT, '.cache', 'setup.lock');

function lockOwner() {
  try {
    return Number(readFileSync(LOCK, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Waits until no other set-up runs. `print` is called with a line about the wait. */
export async function lock(print) {
  for (let waits = 0; ; waits++) {
    try {
      mkdirSync(dirname(LOCK), { recursive: true });
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (['EACCES', 'EPERM', 'EROFS'].includes(error.code))
        throw new SetupError(`${error.message}: set up as the user that ${ROOT} belongs to`);
      if (error.code !== 'EEXIST') throw error;
      const owner = lockOwner();
      // Zero while its owner has not yet written its id.
      if (owner !== null && owner !== 0 && !isAlive(owner)) rmSync(LOCK, { force: true });
      else if (waits === 0) print(`set-up: waiting for the one that is running (process ${owner})`);
      await sleep(200);
      continue;
    }
    // Another process that was removing a dead one's lock may have removed this one.
    await sleep(50);
    if (lockOwner() === process.pid) return;
  }
}

export function unlock() {
  rmSync(LOCK, { force: true });
}
