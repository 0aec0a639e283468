import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** Seeded random numbers: the same seed gives the same numbers on every machine. */
export class SeededRandom {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return uniformInt(this.#generator, low, high);
  }

  /** A number from 0 (included) to 1 (excluded), in steps of 2^-30. */
  fraction(): number {
    return this.int(0, 2 ** 30 - 1) / 2 ** 30;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[this.int(0, items.length - 1)] as T;
  }

  /** Fisher-Yates, into a new array. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.int(0, last);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }

  /** Normal with mean 0 and variance 1 (Box and Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.fraction()));
    return radius * Math.cos(2 * Math.PI * this.fraction());
  }

  /** Log-normal with median 1: sizes of web resources spread over orders of magnitude. */
  logNormal(sigma: number): number {
    return Math.exp(sigma * this.normal());
  }

  /** Incompressible bytes. */
  bytes(count: number): Uint8Array {
    const noise = new Uint8Array(count);
    for (let at = 0; at < count; at += 3) {
      const word = this.int(0, 0xffffff);
      noise[at] = word & 0xff;
      if (at + 1 < count) noise[at + 1] = (word >> 8) & 0xff;
      if (at + 2 < count) noise[at + 2] = word >> 16;
    }
    return noise;
  }
}
