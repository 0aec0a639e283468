import { createHash } from 'node:crypto';

const WORD = 2 ** 32;

/** Draws the same numbers for the same seed, on every machine. */
export class Random {
  readonly #seed: string;
  #drawn = 0;

  constructor(...seed: (number | string)[]) {
    this.#seed = seed.join('/');
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    this.#drawn += 1;
    const word = createHash('sha256').update(`${this.#seed}#${this.#drawn}`).digest().readUInt32BE();
    return Math.floor((word / WORD) * limit);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Some of a list, each once. */
  some<T>(count: number, list: readonly T[]): T[] {
    const left = [...list];
    return Array.from({ length: count }, () => left.splice(this.below(left.length), 1)[0]!);
  }

  chance(share: number): boolean {
    return this.below(1000) < 1000 * share;
  }
}
