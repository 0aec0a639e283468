/** Processes that tests left running: an interrupted test runner ends its workers, but not the browsers that these have started. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Finds this user's processes that were started with a folder for temporary files; none on systems without `/proc`.
 *
 * @returns their numbers
 */
function findProcesses(temporary: string): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(Number)
      .filter((pid) => environmentOf(pid).includes(`TMPDIR=${temporary}`));
  } catch {
    return [];
  }
}

/** Variables of a process (proc(5)); none of one that has ended or is another user's. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Ends what was started with a folder for temporary files, and waits until it has ended, for some seconds at most. @returns how many there were */
export async function endLeftProcesses(temporary: string): Promise<number> {
  const left = findProcesses(temporary);
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  for (let tries = 0; tries < 50 && findProcesses(temporary).length > 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  return left.length;
}
