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
/** The number of loads that a prediction counts as, divided over the ends and the middle of its range; less where loads have refuted predictions. */
const PREDICTION_LOADS = 2;
const REFUTED_LOADS = 0.5;
const PREDICTION_SHARES = { low: 0.3, pltMs: 0.4, high: 0.3 } as const;
/** Clusters that a load belongs to, narrowest first. */
export type Clusters = readonly [ClusterState, ...ClusterState[]];

/** The most loads that what was measured in a wider cluster counts as: more than a prediction, as it was measured. */
const WIDER_LOADS = 2 * PREDICTION_LOADS;

/**
 * What is known of each arm's load times on a page: those measured in the cluster, the older the less, and before them the predicted
 * ones. Of an arm that was not measured there, those of other pages in wider clusters, relative to the pages' usual times.
 */
export class Beliefs {
  readonly #times: ReadonlyMap<string, readonly WeightedTime[]>;

  /**
   * @param clusters narrowest first
   * @param scaleMs see `Question.scaleMs`
   */
  constructor([cluster, ...wider]: Clusters, arms: readonly Arm[], scaleMs: number) {
    const { refuted } = cluster;
    this.#times = new Map(
      arms.map(({ name, predicted }) => {
        const own = measuredIn(cluster, name, scaleMs);
        // What was measured must not give way to what was known before it.
        const age = own.at(-1)?.weight ?? 1;
        const predictionLoads = age * (refuted ? REFUTED_LOADS : PREDICTION_LOADS);
        // After a change here, what is known of other pages may be of the time before.
        const pooled = own.length === 0 && !refuted ? wider : [];
        const times = [
          ...(predicted === null ? [] : (['low', 'pltMs', 'high'] as const)).map((end) => ({
            time: predicted![end],
            weight: predictionLoads * PREDICTION_SHARES[end],
          })),
          ...pooled.flatMap((each) => limitWeight(measuredIn(each, name, scaleMs), WIDER_LOADS)),
          ...own,
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

function measuredIn({ arms, loads }: ClusterState, arm: string, scaleMs: number): WeightedTime[] {
  return (arms[arm] ?? []).map(({ relative, at }) => ({
    time: relative * scaleMs,
    weight: FORGETTING ** (loads - 1 - at),
  }));
}

function limitWeight(times: readonly WeightedTime[], limit: number): WeightedTime[] {
  const total = times.reduce((sum, { weight }) => sum + weight, 0);
  const factor = Math.min(1, limit / total);
  return times.map(({ time, weight }) => ({ time, weight: factor * weight }));
}
