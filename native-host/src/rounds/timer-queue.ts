/**
 * Runs callbacks at points in time, to a fraction of a millisecond: Node's timers have a resolution
 * of a millisecond and may be another one late, so that the last stretch is spent polling on the event loop.
 */
export class TimerQueue {
  readonly #due: { atMs: number; run: () => void }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #soon: NodeJS.Immediate | null = null;

  /** @param atMs on the clock of `performance.now()`; what is due by now runs in the same turn. */
  at(atMs: number, run: () => void): void {
    let place = this.#due.length;
    while (place > 0 && this.#due[place - 1]!.atMs > atMs) place -= 1;
    this.#due.splice(place, 0, { atMs, run });
    if (place === 0) this.#arm();
  }

  clear(): void {
    this.#due.length = 0;
    this.#disarm();
  }

  #disarm(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#soon) clearImmediate(this.#soon);
    this.#timer = null;
    this.#soon = null;
  }

  #arm(): void {
    this.#disarm();
    const next = this.#due[0];
    if (!next) return;
    const waitMs = next.atMs - performance.now();
    if (waitMs > SPIN_MS) this.#wait(waitMs - SPIN_MS + 1);
    else if (waitMs > 0) this.#soon = setImmediate(() => this.#arm());
    else this.#run();
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#arm(), Math.min(Math.floor(ms), MAX_TIMEOUT_MS));
  }

  #run(): void {
    const now = performance.now();
    while (this.#due.length > 0 && this.#due[0]!.atMs <= now) this.#due.shift()!.run();
    this.#arm();
  }
}

const SPIN_MS = 2;

/** Node replaces a longer one by 1 ms. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
