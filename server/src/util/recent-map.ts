/**
 * A map that keeps at least the last so many entries that were set and at most twice as many: in two halves, of which the older one is dropped as a whole.
 * Removing the first entry of a Map one at a time takes longer with each.
 */
export class RecentMap<V> {
  readonly #limit: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  has(key: string): boolean {
    return this.#young.has(key) || this.#old.has(key);
  }

  set(key: string, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#limit) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** @returns whether there was one */
  delete(key: string): boolean {
    const isInYoung = this.#young.delete(key);
    return this.#old.delete(key) || isInYoung;
  }

  *values(): Generator<V> {
    yield* this.#young.values();
    for (const [key, value] of this.#old) if (!this.#young.has(key)) yield value;
  }
}
