/**
 * Detects an engine process that no longer responds. libcurl 8.14 reads from a connection until it is empty: an origin that sends
 * faster than libcurl processes starves all others.
 */

/** Unanswered questions before it counts as stuck. They are counted, not timed, as this process or the machine may have slept. */
const MAX_UNANSWERED = 3;

export interface StuckWatchOptions {
  /** How long a busy process may not answer, milliseconds. */
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
      else if (this.#unanswered < MAX_UNANSWERED) {
        this.#unanswered += 1;
        ask();
      } else {
        this.stop();
        onStuck();
      }
    }, limitMs / MAX_UNANSWERED).unref();
  }

  answered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
