import { firstIndexWhere } from '../util/ordered.ts';

/** Events in the order of time; events of the same time in the order in which they were added. */
export class Agenda {
  nowMs = 0;
  /** Latest first. */
  readonly #entries: { atMs: number; action: () => void }[] = [];

  at(atMs: number, action: () => void): void {
    const entries = this.#entries;
    entries.splice(
      firstIndexWhere(entries, (entry) => entry.atMs <= atMs),
      0,
      { atMs, action },
    );
  }

  /** Runs until no event is left. */
  run(): void {
    for (let next = this.#entries.pop(); next; next = this.#entries.pop()) {
      this.nowMs = next.atMs;
      next.action();
    }
  }
}
