/** What a process that does not respond is doing, as procfs shows it (proc_pid_stat(5)). */
import { readFileSync } from 'node:fs';

/**
 * `able`: it was stopped, waited for something other than the processor, or ran. `starved`: it was ready to run or waited for the
 * disk, or the system does not say. `debugged`: a debugger has stopped it.
 */
export type ProcessActivity = 'able' | 'starved' | 'debugged';

/** A running process that got less than this share of the time is starved. */
const MIN_RUNNING_SHARE = 0.5;

/** The unit of procfs, which Linux fixes at 100 a second on all architectures of Node. */
const CLOCK_TICK_MS = 10;

/** State, and processor time so far of the thread that runs JavaScript. */
export interface ThreadTimes {
  /** A letter of proc_pid_stat(5), such as `R`. */
  state: string;
  processorMs: number;
}

/** @returns a function that describes the time since its last call */
export function observeProcess(
  pid: number,
  readTimes: (pid: number) => ThreadTimes | null = readMainThread,
  nowMs: () => number = () => performance.now(),
): () => ProcessActivity {
  let lastMs = nowMs();
  let lastProcessorMs = readTimes(pid)?.processorMs ?? 0;
  return () => {
    const times = readTimes(pid);
    const elapsedMs = nowMs() - lastMs;
    const ranMs = (times?.processorMs ?? 0) - lastProcessorMs;
    lastMs += elapsedMs;
    lastProcessorMs += ranMs;
    switch (times?.state) {
      case 't':
        return 'debugged';
      case 'T':
      case 'S':
        return 'able';
      case 'R':
        return ranMs < MIN_RUNNING_SHARE * elapsedMs ? 'starved' : 'able';
      default:
        return 'starved';
    }
  };
}

/** Null where there is no procfs. */
function readMainThread(pid: number): ThreadTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1');
    // The second field is the name, which may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      state: fields[0]!,
      processorMs: (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS,
    };
  } catch {
    return null;
  }
}
