import { mean, normalCdf } from '../util/statistics.ts';

/** Belief about a vector of log load times in one scenario: a normal distribution with its weight among the scenarios. */
interface Component {
  weight: number;
  means: Float64Array;
  covariance: Float64Array[];
}

/** A measured linear combination of log load times, with the variance of its error. */
export interface Observation {
  /** Coefficient of each load time. */
  coefficients: readonly number[];
  value: number;
  variance: number;
}

/** Bisection steps to find a quantile: to a millionth of the interval. */
const STEPS = 20;
/** Standard deviations beyond which a normal distribution is negligible. */
const TAIL = 4;

/**
 * Belief about the logarithms of a page's load times under several candidates: a mixture over equally likely scenarios of
 * multivariate normal distributions, whose covariance is the emulator's error. Observations update it by Bayes' rule (Kalman,
 * "A New Approach to Linear Filtering and Prediction Problems", 1960).
 */
export class Belief {
  readonly #components: Component[];

  /**
   * @param logTimes by scenario, then candidate
   * @param covariance of the emulator's errors of the candidates' log times
   */
  constructor(logTimes: readonly (readonly number[])[], covariance: readonly (readonly number[])[]) {
    this.#components = logTimes.map((means) => ({
      weight: 1 / logTimes.length,
      means: Float64Array.from(means),
      covariance: covariance.map((row) => Float64Array.from(row)),
    }));
  }

  /** Updates the log times and makes the scenarios that predicted the observation likelier. */
  observe(observation: Observation): void {
    let sum = 0;
    for (const component of this.#components) {
      component.weight *= update(component, observation);
      sum += component.weight;
    }
    // The observation is impossible in every scenario: their weights say nothing then.
    for (const component of this.#components) {
      component.weight = sum > 0 ? component.weight / sum : 1 / this.#components.length;
    }
  }

  /** Updates the log times of one scenario without a change of the scenarios' weights. */
  adjust(scenario: number, observation: Observation): void {
    update(this.#components[scenario]!, observation);
  }

  /** Expected log time of a candidate. */
  meanLog(candidate: number): number {
    return this.#sum(({ means }) => means[candidate]!);
  }

  /** Probability that `candidate`'s load time is below `factor` times that of `rival`. */
  probabilityBelow(candidate: number, rival: number, factor = 1): number {
    return this.#sum(({ means, covariance }) => {
      const lead = means[rival]! + Math.log(factor) - means[candidate]!;
      const variance =
        covariance[candidate]![candidate]! + covariance[rival]![rival]! - 2 * covariance[candidate]![rival]!;
      return variance > 1e-12 ? normalCdf(lead / Math.sqrt(variance)) : lead > 0 ? 1 : 0;
    });
  }

  /** Quantile of a candidate's load time, milliseconds. */
  quantile(candidate: number, share: number): number {
    const deviations = this.#components.map(({ covariance }) =>
      Math.sqrt(covariance[candidate]![candidate]!),
    );
    const logs = this.#components.map(({ means }) => means[candidate]!);
    const widest = Math.max(...deviations, 1e-6);
    let low = Math.min(...logs) - TAIL * widest;
    let high = Math.max(...logs) + TAIL * widest;
    for (let step = 0; step < STEPS; step++) {
      const middle = (low + high) / 2;
      let below = 0;
      for (const [index, { weight }] of this.#components.entries()) {
        below += weight * normalCdf((middle - logs[index]!) / Math.max(deviations[index]!, 1e-6));
      }
      if (below < share) low = middle;
      else high = middle;
    }
    return Math.exp((low + high) / 2);
  }

  /** Mean over the scenarios of how much longer than the fastest of `candidates` each takes, as a fraction. */
  regrets(candidates: readonly number[]): number[] {
    return candidates.map((candidate) =>
      this.#sum(({ means }) => {
        const least = Math.min(...candidates.map((each) => means[each]!));
        return Math.expm1(means[candidate]! - least);
      }),
    );
  }

  #sum(of: (component: Component) => number): number {
    let sum = 0;
    for (const component of this.#components) sum += component.weight * of(component);
    return sum;
  }
}

/** Updates one component. @returns the likelihood of the observation in it */
function update(component: Component, { coefficients, value, variance }: Observation): number {
  const { means, covariance } = component;
  const gains = covariance.map((row) =>
    row.reduce((sum, entry, index) => sum + entry * coefficients[index]!, 0),
  );
  const expected = means.reduce((sum, entry, index) => sum + entry * coefficients[index]!, 0);
  const total = gains.reduce((sum, gain, index) => sum + gain * coefficients[index]!, variance);
  const surprise = value - expected;
  for (let row = 0; row < means.length; row++) {
    means[row]! += (gains[row]! / total) * surprise;
    for (let column = 0; column < means.length; column++) {
      covariance[row]![column]! -= (gains[row]! * gains[column]!) / total;
    }
  }
  return Math.exp(-(surprise ** 2) / (2 * total)) / Math.sqrt(total);
}

/** Median of the values' logarithms and the variance of their mean. @param noise standard deviation of one logarithm */
export function logMean(values: readonly number[], noise: number): { value: number; variance: number } {
  const logs = values.map(Math.log);
  return { value: mean(logs), variance: noise ** 2 / logs.length };
}
