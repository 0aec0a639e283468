import type { Duplex } from 'node:stream';

/**
 * Silence after which a connection that has to end counts as idle. After bytes of the origin: longer than the pauses within a transfer,
 * including retransmissions. After bytes of the browser: an answer is awaited.
 */
const QUIET_AFTER_ORIGIN_MS = 1_000;
const QUIET_AFTER_BROWSER_MS = 10_000;

/** How long a connection goes on at most whose pin has ended, for requests that were under way then. */
export const ENDING_TIMEOUT_MS = 2 * 60_000;

/**
 * Ends a connection whose bytes are forwarded unread once it is idle, so that what is under way can end by itself. A browser repeats a
 * request that is lost on a reused idle connection, but not on a new one or after its response has begun.
 */
export class EndWhenIdle {
  readonly #end: () => void;
  #browserAtMs = performance.now();
  #originAtMs = 0;
  /** On the clock of `performance.now()`. */
  #lastMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** Both sides are read by another listener already. */
  constructor(browser: Duplex, origin: Duplex, end: () => void) {
    this.#end = end;
    browser.on('data', () => {
      this.#browserAtMs = performance.now();
    });
    origin.on('data', () => {
      this.#originAtMs = performance.now();
    });
    for (const side of [browser, origin]) side.once('close', () => clearTimeout(this.#timer));
  }

  /**
   * Ends it at once if it has been idle long enough.
   *
   * @param limitMs how long it may go on at most; with several the first one counts
   */
  start(limitMs: number): void {
    this.#lastMs = Math.min(this.#lastMs, performance.now() + limitMs);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    clearTimeout(this.#timer);
    const answered = this.#originAtMs >= this.#browserAtMs;
    const idleAtMs = answered
      ? this.#originAtMs + QUIET_AFTER_ORIGIN_MS
      : this.#browserAtMs + QUIET_AFTER_BROWSER_MS;
    const dueMs = Math.min(idleAtMs, this.#lastMs) - performance.now();
    if (dueMs <= 0) this.#end();
    else this.#timer = setTimeout(() => this.#endIfIdle(), Math.min(dueMs, QUIET_AFTER_ORIGIN_MS));
  }
}
