import type { ClusterState } from './cluster-state.ts';
import { evaluate, type Objective, type WeightedTime } from './objective.ts';

/** One of the ways to choose from, with what is predicted of it. */
export interface Arm {
  name: string;
  /** Predicted load time with its 80% range, milliseconds; null where nothing predicts it, so that it is tried first. */
  predicted: { low: number; pltMs: number; high: number } | null;
}

/** Every newer load of the cluster makes an older one count this much less: half after 23 loads. */
const FORGETTING = 0.97;
/** A prediction counts as much as so many loads, divided over the ends and the middle of its range; less where loads have refuted predictions. */
const PREDICTION_LOADS = 2;
const REFUTED_LOADS = 0.5;
const PREDICTION_SHARES = { low: 0.3, pltMs: 0.4, high: 0.3 } as const;

/** What is known of each arm's load times on a page: those measured in the cluster, the older the less, and the predicted ones. */
export class Beliefs {
  readonly #times: ReadonlyMap<string, readonly WeightedTime[]>;

  /** @param scaleMs see `Question.scaleMs` */
  constructor({ arms: measured, loads, refuted }: ClusterState, arms: readonly Arm[], scaleMs: number) {
    const predictionLoads = refuted ? REFUTED_LOADS : PREDICTION_LOADS;
    const weightAt = (at: number) => FORGETTING ** (loads - 1 - at);
    this.#times = new Map(
      arms.map(({ name, predicted }) => {
        const own = measured[name] ?? [];
        // What was measured must not give way to what was predicted before it.
        const agedLoads = predictionLoads * (own.length === 0 ? 1 : weightAt(own.at(-1)!.at));
        const times = [
          ...(predicted === null ? [] : (['low', 'pltMs', 'high'] as const)).map((end) => ({
            time: predicted![end],
            weight: agedLoads * PREDICTION_SHARES[end],
          })),
          ...own.map(({ relative, at }) => ({ time: relative * scaleMs, weight: weightAt(at) })),
        ];
        return [name, times];
      }),
    );
  }

  /** The objective's value for an arm, milliseconds. */
  value(arm: string, objective: Objective): number {
    return evaluate(objective, this.#times.get(arm)!);
  }

  /**
   * Draws a value of the objective that an arm may have: the Bayesian bootstrap (Rubin, The Annals of Statistics 9, 1981), in which
   * each load's weight is multiplied by an exponential variate. It knows no distribution and holds for every objective.
   *
   * @param random uniform in [0, 1)
   */
  draw(arm: string, objective: Objective, random: () => number): number {
    const drawn = this.#times
      .get(arm)!
      .map(({ time, weight }) => ({ time, weight: -weight * Math.log(1 - random()) + Number.MIN_VALUE }));
    return evaluate(objective, drawn);
  }
}
