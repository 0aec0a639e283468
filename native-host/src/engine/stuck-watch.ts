/**
 * Whether the engine's process still gets round to anything. libcurl 8.14 reads what an origin sends until there is no more of it: one
 * that sends faster than libcurl works it off keeps it from all others.
 */

/** Times that it is asked before it is given up. They are counted, as this process may have been stopped itself, or the machine. */
const QUESTIONS = 3;

export interface StuckWatchOptions {
  /** How long a process that has something to do may not answer, milliseconds. */
  limitMs: number;
  isBusy: () => boolean;
  ask: () => void;
  /** Called once. */
  onStuck: () => void;
}

export class StuckWatch {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;

  constructor({ limitMs, isBusy, ask, onStuck }: StuckWatchOptions) {
    this.#timer = setInterval(() => {
      if (!isBusy()) this.#unanswered = 0;
      else if (this.#unanswered < QUESTIONS) {
        this.#unanswered += 1;
        ask();
      } else {
        this.stop();
        onStuck();
      }
    }, limitMs / QUESTIONS).unref();
  }

  answered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
