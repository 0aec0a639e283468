/** What a batch may cost: a helper that is busy without end can still give every right answer. */
import { processorMs } from '../support/processor-time.ts';
import type { Patience } from './patience.ts';

const CHECK_EVERY_MS = 100;
/** Host and engine, their start included, take 1 to 3 s. */
const PROCESSOR_LIMIT_MS = 15_000;
/** More than the time limits of a batch's requests and pages in a row. */
const ELAPSED_LIMIT_MS = 120_000;
/**
 * Whatever was waited for. The processes' waits for a processor can add up to more than the time that passes: limits without them would
 * then never come.
 */
const WHOLE_LIMIT_MS = 600_000;

export interface Cost {
  elapsedMs: number;
  /** Time that the processes waited for a processor, each for itself: it does not count. */
  waitedMs: number;
  processorMs: number;
}

/**
 * Measures the time of a batch, and the processor time of the processes that carry its requests, which may be
 * replaced meanwhile.
 */
export class BatchCost {
  readonly #processes: () => readonly number[];
  readonly #patience: Patience;
  readonly #beganMs = performance.now();
  readonly #waitedMs: number;
  readonly #processorMs = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #over = new AbortController();

  /**
   * @param processes ids of those there are now
   * @param patience of these processes and of the one that makes the requests
   */
  constructor(processes: () => readonly number[], patience: Patience) {
    this.#processes = processes;
    this.#patience = patience;
    this.#waitedMs = patience.waitedMs();
    this.#timer = setInterval(() => this.#look(), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** Aborts once the batch has cost too much: nothing is waited for any longer. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** To be called before the processes end. */
  stop(): Cost {
    clearInterval(this.#timer);
    this.#look();
    return this.#cost;
  }

  get #cost(): Cost {
    return {
      elapsedMs: performance.now() - this.#beganMs,
      waitedMs: this.#patience.waitedMs() - this.#waitedMs,
      processorMs: [...this.#processorMs.values()].reduce((sum, ms) => sum + ms, 0),
    };
  }

  #look(): void {
    for (const pid of this.#processes()) {
      this.#processorMs.set(pid, Math.max(processorMs(pid), this.#processorMs.get(pid) ?? 0));
    }
    if (faultsOfCost(this.#cost).length > 0) this.#over.abort();
  }
}

/** What is wrong with the cost of a batch. */
export function faultsOfCost(cost: Cost): string[] {
  const faults: string[] = [];
  if (cost.processorMs > PROCESSOR_LIMIT_MS)
    faults.push(
      `host and engine took ${seconds(cost.processorMs)} of processor time, at most ${seconds(PROCESSOR_LIMIT_MS)} are expected`,
    );
  if (cost.elapsedMs - cost.waitedMs > ELAPSED_LIMIT_MS)
    faults.push(
      `the batch took ${seconds(cost.elapsedMs)}, at most ${seconds(ELAPSED_LIMIT_MS)} are expected`,
    );
  else if (cost.elapsedMs > WHOLE_LIMIT_MS)
    faults.push(
      `the batch took ${seconds(cost.elapsedMs)}, at most ${seconds(WHOLE_LIMIT_MS)} are expected on a machine however busy`,
    );
  return faults;
}

/** Such as `took 38 s and 2 s of processor time, for which it waited 9 s`. */
export function describeCost({ elapsedMs, waitedMs, processorMs }: Cost): string {
  const words = `took ${seconds(elapsedMs)} and ${seconds(processorMs)} of processor time`;
  return `${words}, for which it waited ${seconds(waitedMs)}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
