import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

export const MIB = 1024 * 1024;
const LOOK_EVERY_MS = 5;

/**
 * The most bytes of memory that each group of processes grows by, together, while `run` runs.
 *
 * @param groups process IDs.
 */
export async function growth(
  groups: readonly (readonly number[])[],
  run: () => Promise<void>,
): Promise<number[]> {
  const resident = (): number[] =>
    groups.map((pids) => pids.reduce((sum, pid) => sum + residentBytes(pid), 0));
  const before = resident();
  let most = before;
  const look = (): void => {
    const now = resident();
    most = most.map((bytes, group) => Math.max(bytes, now[group]!));
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  // A test that runs out of time never comes back here, and its processes end.
  onTestFinished(() => clearInterval(timer));
  await run();
  clearInterval(timer);
  look();
  return most.map((bytes, group) => bytes - before[group]!);
}

/** By proc(5). */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}
