import { createRandom, type Random } from '../../util/random.ts';
import type { Passage, PathElement } from './bottleneck-path.ts';

/** Random loss in one direction, shared by all connections of a transport. */
export abstract class LossProcess implements PathElement {
  /**
   * Sends `packets`.
   *
   * @returns positions of the lost ones (0 to packets − 1, ascending), or null when all arrive
   */
  abstract lostOf(packets: number): number[] | null;

  /** Forgets the current burst: a timer has run for longer than bursts last, so the next packet is lost independently. */
  abstract settle(): void;

  pass(passage: Passage): void {
    if (passage.packets === 0) return;
    passage.lost = this.lostOf(passage.packets);
    if (passage.lost !== null) passage.packets -= passage.lost.length;
  }
}

/**
 * Loses bursts of geometric length with mean `burst` (the Gilbert model, whose bad state loses all packets) that make up the
 * fraction `loss` of all packets. Only the distance to the next burst is drawn, so that packets cost nothing.
 */
export class BurstLoss extends LossProcess {
  readonly #loss: number;
  readonly #startRate: number;
  readonly #stayRate: number;
  readonly #random: Random;
  #untilLoss = 0;

  /**
   * @param loss fraction of packets, 0 to below 1
   * @param burst mean packets a burst, 1 for independent losses
   */
  constructor(loss: number, burst: number, seed: number) {
    super();
    const length = Math.max(1, burst);
    this.#loss = loss;
    // A burst of `length` and a good run of (1 − rate) / rate packets make up a cycle, of which `loss` is lost.
    this.#startRate = loss <= 0 ? 0 : loss / (loss + length * (1 - loss));
    this.#stayRate = 1 - 1 / length;
    this.#random = createRandom(seed);
    this.#untilLoss = this.#goodRun();
  }

  lostOf(packets: number): number[] | null {
    if (this.#untilLoss >= packets) {
      this.#untilLoss -= packets;
      return null;
    }
    const lost: number[] = [];
    let at = this.#untilLoss;
    while (at < packets) {
      lost.push(at);
      at += 1 + (this.#random() < this.#stayRate ? 0 : this.#goodRun());
    }
    this.#untilLoss = at - packets;
    return lost;
  }

  settle(): void {
    // Independent losses have no memory, nor does the time between bursts.
    if (this.#stayRate === 0 || this.#untilLoss > 0) return;
    this.#untilLoss = this.#random() < this.#loss ? 0 : this.#goodRun();
  }

  /** Draws the number of packets that arrive before the next loss: geometric. */
  #goodRun(): number {
    if (this.#startRate <= 0) return Number.POSITIVE_INFINITY;
    if (this.#startRate >= 1) return 0;
    return Math.floor(Math.log(1 - this.#random()) / Math.log(1 - this.#startRate));
  }
}

/** Joins two independent causes of loss on one way. */
export class JointLoss extends LossProcess {
  readonly #causes: readonly [LossProcess, LossProcess];

  constructor(...causes: [LossProcess, LossProcess]) {
    super();
    this.#causes = causes;
  }

  lostOf(packets: number): number[] | null {
    const [first, second] = [this.#causes[0].lostOf(packets), this.#causes[1].lostOf(packets)];
    if (first === null || second === null) return first ?? second;
    return [...new Set([...first, ...second])].sort((a, b) => a - b);
  }

  settle(): void {
    for (const cause of this.#causes) cause.settle();
  }
}
