import { readdirSync, readFileSync } from 'node:fs';

/** Looks at the memory of a process at a time: the lowest is that after the garbage collector has run. */
const LOOKS = 30;
const LOOK_EVERY_MS = 100;

/** Number of open descriptors of each process. */
export function descriptorsOf(pids: readonly number[]): number[] {
  return pids.map((pid) => readdirSync(`/proc/${pid}/fd`).length);
}

/**
 * Proportional set size of each process in bytes, at its least within three seconds: memory shared with other processes counts by its
 * share (proc_pid_smaps_rollup(5)).
 */
export async function leastPss(pids: readonly number[]): Promise<number[]> {
  let least = pids.map(pssOf);
  for (let look = 1; look < LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    least = pids.map((pid, index) => Math.min(pssOf(pid), least[index]!));
  }
  return least;
}

function pssOf(pid: number): number {
  const [, kb] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))!;
  return Number(kb) * 1024;
}
