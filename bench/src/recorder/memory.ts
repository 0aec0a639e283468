import { readFileSync } from 'node:fs';
import { listProcesses, type PerKind } from './processor-time.ts';

/** Memory by what it is used for, megabytes. */
export type MemoryByKind = PerKind;

/**
 * Reads the memory of a process and its descendants: each page as a share among the processes that have it (PSS, proc_pid_smaps(5)), so that
 * what the browser's processes share is counted once.
 *
 * @throws Error where the kernel does not show it, as to another user than theirs
 */
export function readMemory(pid: number): MemoryByKind {
  const memory: MemoryByKind = { browser: 0, pages: 0, extension: 0, helper: 0 };
  for (const { pid: each, kind } of listProcesses(pid)) memory[kind] += readShareMb(each);
  return memory;
}

function readShareMb(pid: number): number {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch (error) {
    // It has ended in the meantime.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}
