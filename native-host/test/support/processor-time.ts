import { readFileSync } from 'node:fs';

/** The unit of procfs, which Linux fixes at 100 a second on all architectures of Node. */
const CLOCK_TICK_MS = 10;

/** Processor time of all threads of a process so far, milliseconds, by proc_pid_stat(5); 0 for a process that has ended. */
export function processorMs(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 0;
  }
  // The second field is the name, which may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}
