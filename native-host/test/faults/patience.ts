import { readFileSync } from 'node:fs';

const CHECK_EVERY_MS = 100;

/**
 * Time limits that other work on the machine does not use up: the time that the processes of a request waited for a processor does
 * not count. Linux counts it for the main thread of each process, in nanoseconds (`/proc/PID/schedstat`, second field).
 */
export class Patience {
  readonly #processes: () => readonly number[];
  readonly #lastNs = new Map<number, number>();
  #waitedNs = 0;

  /** @param processes ids of those that carry the requests now */
  constructor(processes: () => readonly number[]) {
    this.#processes = processes;
    this.waitedMs();
  }

  /** Time that the processes have waited for a processor so far, each for itself. */
  waitedMs(): number {
    for (const pid of this.#processes()) {
      const delayNs = runDelayNs(pid);
      this.#waitedNs += Math.max(0, delayNs - (this.#lastNs.get(pid) ?? delayNs));
      this.#lastNs.set(pid, delayNs);
    }
    return this.#waitedNs / 1e6;
  }

  /** @returns a signal that aborts after a time on an idle machine, later on a busy one */
  limit(limitMs: number): AbortSignal {
    const over = new AbortController();
    const [beganMs, waitedMs] = [performance.now(), this.waitedMs()];
    const timer = setInterval(() => {
      if (performance.now() - beganMs - (this.waitedMs() - waitedMs) < limitMs) return;
      clearInterval(timer);
      over.abort();
    }, CHECK_EVERY_MS);
    timer.unref();
    return over.signal;
  }
}

/** 0 for a process that has ended. */
function runDelayNs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}
