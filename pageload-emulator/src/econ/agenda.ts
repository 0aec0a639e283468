import { firstIndexWhere } from '../util/ordered.ts';

/** What is to happen, in the order of time; of two at one time, what was entered first. */
export class Agenda {
  nowMs = 0;
  /** Latest first. */
  readonly #entries: { atMs: number; happen: () => void }[] = [];

  at(atMs: number, happen: () => void): void {
    const entries = this.#entries;
    entries.splice(
      firstIndexWhere(entries, (entry) => entry.atMs <= atMs),
      0,
      { atMs, happen },
    );
  }

  /** Runs until nothing is left to happen. */
  run(): void {
    for (let next = this.#entries.pop(); next; next = this.#entries.pop()) {
      this.nowMs = next.atMs;
      next.happen();
    }
  }
}
