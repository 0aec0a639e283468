const EVERY_MS = 500;

/**
 * Counted, not timed: the browser or the machine may have slept. Chromium kills a helper that does not end within 2 s of its port's
 * end, so pages wait for less than 5 s.
 */
const MAX_UNANSWERED = 4;

/** A helper that ends by itself has answered all pings but the last. */
const MIN_MISSED = 2;

interface HeartbeatOptions {
  ping(): void;
  /** The helper has not answered for 2 to 2.5 s. Called once. */
  onSilent(): void;
}

/**
 * Notices that the helper hangs. Its own processes notice that earlier and end each other; this is for the case that neither of
 * them responds, or that there is only one.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #unanswered = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Has no effect when it runs. */
  start(): void {
    this.#timer ??= setInterval(() => this.#beat(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** To be called for every message of the helper. */
  noteAnswer(): void {
    this.#unanswered = 0;
  }

  /** Whether the helper had stopped to answer. */
  get isMissed(): boolean {
    return this.#unanswered >= MIN_MISSED;
  }

  #beat(): void {
    if (this.#unanswered >= MAX_UNANSWERED) {
      this.stop();
      this.#options.onSilent();
      return;
    }
    this.#unanswered += 1;
    this.#options.ping();
  }
}
