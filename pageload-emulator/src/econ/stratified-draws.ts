import { createRandom, hashSeed, type Random } from '../util/random.ts';

/**
 * Numbers in (0, 1) for one of several trajectories, such that over all of them each draw is spread evenly, one in each
 * stratum: a Latin hypercube (McKay, Beckman and Conover, 1979), whose dimensions are the losses of the connections.
 */
export class StratifiedDraws {
  readonly #trajectories: number;
  readonly #draws = new Map<number, number[]>();

  constructor(trajectories: number) {
    this.#trajectories = trajectories;
  }

  /**
   * @param trajectory from 0
   * @param draw identifies the draw, the same in each trajectory
   */
  at(trajectory: number, ...draw: number[]): number {
    const seed = hashSeed(...draw);
    let values = this.#draws.get(seed);
    if (!values) {
      values = stratified(this.#trajectories, createRandom(seed));
      this.#draws.set(seed, values);
    }
    return values[trajectory]!;
  }
}

/** A number from each stratum, in an order shuffled as by Fisher and Yates. */
function stratified(count: number, random: Random): number[] {
  const values = Array.from({ length: count }, (_, stratum) => (stratum + random()) / count);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [values[last], values[other]] = [values[other]!, values[last]!];
  }
  return values;
}
