/** Between an answer and the next ping. Each wakes four processes, all day for as long as something is pinned. */
const REST_MS = 2_000;
/** Between pings that are not answered. */
const AGAIN_MS = 500;

/**
 * Counted, not timed: the browser or the machine may have slept. Chromium kills a helper that does not end within 2 s of its port's
 * end, so pages wait for less than 6 s.
 */
const MAX_UNANSWERED = 4;

/** A helper that ends by itself has answered all pings but the last. */
const MIN_MISSED = 2;

interface HeartbeatOptions {
  ping(): void;
  /** The helper has not answered for 2 s. Called once. */
  onSilent(): void;
}

/**
 * Notices that the helper hangs, within 4 s. Its own processes notice that earlier and end each other; this is for the case that neither
 * of them responds, or that there is only one.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** Until the next beat; undefined while it does not run. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unanswered = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Has no effect when it runs. */
  start(): void {
    if (this.#timer === undefined) this.#beatAfter(REST_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** To be called for every message of the helper. */
  noteAnswer(): void {
    if (this.#timer === undefined || this.#unanswered === 0) return;
    this.#unanswered = 0;
    this.#beatAfter(REST_MS);
  }

  /** Whether the helper had stopped to answer. */
  get isMissed(): boolean {
    return this.#unanswered >= MIN_MISSED;
  }

  #beatAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), ms);
  }

  #beat(): void {
    if (this.#unanswered >= MAX_UNANSWERED) {
      this.stop();
      this.#options.onSilent();
      return;
    }
    this.#unanswered += 1;
    this.#beatAfter(AGAIN_MS);
    this.#options.ping();
  }
}
