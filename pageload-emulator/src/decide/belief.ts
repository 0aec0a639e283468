import { normalCdf } from '@hopwise/contract';
import {
  absorbMisfit,
  gradientOf,
  type LinearObservation,
  likelihoodsOf,
  type ScenarioBelief,
  totalMs,
  updateScenarioBelief,
  varianceOf,
} from './scenario-belief.ts';

/** What was seen of the ratio of two candidates' own parts: its logarithm, with the variance of its error. */
export interface RatioObservation<Candidate> {
  candidate: Candidate;
  rival: Candidate;
  value: number;
  variance: number;
}

/** Measured loads of a candidate: the mean logarithm of their times, with the variance of its error. */
export interface TimeObservation<Candidate> {
  candidate: Candidate;
  value: number;
  variance: number;
  /** Whether the scenarios were drawn without these loads, so that their weights may learn from them. */
  isNew: boolean;
}

/** Standard deviations of the logarithms of a single load's parts around those of its page, network and servers. */
export interface LoadScatter {
  own: number;
  shared: number;
}

/** Prior standard deviation of the logarithm of the shared part: the time of servers and scripts as it was read from the recording. */
const SHARED_DEVIATION = 0.05;
/** The shared part of a page without any, whose logarithm is taken, milliseconds. */
const SHORTEST_MS = 1e-3;
/** The candidates' own part is at least this share of the load time: no emulation of the rest is exact. */
const MIN_OWN_SHARE = 0.02;
/** That share is of loads: in a recording of a session, of minutes and more, it would be time that no protocol has to do with. Assumed. */
const MAX_LOAD_MS = 5_000;

/** Bisection steps to find a quantile: to a millionth of the interval. */
const STEPS = 20;
/** Standard deviations beyond which a normal distribution is negligible. */
const TAIL = 4;

/**
 * Belief about a page's load times under several candidates: a mixture over equally likely scenarios of multivariate normal
 * distributions, whose covariance is the emulator's error. Observations update it by Bayes' rule, linearised (extended Kalman
 * filter; Kalman, "A New Approach to Linear Filtering and Prediction Problems", 1960).
 */
export class Belief<Candidate> {
  /** Position of each candidate in the vectors and matrices of the components. */
  readonly #rows: ReadonlyMap<Candidate, number>;
  readonly #components: ScenarioBelief[];
  /** Variances between the scenarios as they were drawn, by row. */
  readonly #drawnVariances: readonly number[];

  /**
   * @param timesOf emulated load times of a candidate, one for each scenario, milliseconds
   * @param sharedMs what each scenario's loads take whatever carries them, milliseconds
   * @param covarianceOf covariance of the emulator's errors of two candidates' own parts, in their logarithms
   */
  constructor(
    candidates: readonly Candidate[],
    timesOf: (candidate: Candidate) => readonly number[],
    sharedMs: readonly number[],
    covarianceOf: (a: Candidate, b: Candidate) => number,
  ) {
    this.#rows = new Map(candidates.map((candidate, row) => [candidate, row]));
    const times = candidates.map(timesOf);
    const covariance = candidates.map((a) => candidates.map((b) => covarianceOf(a, b)));
    this.#components = times[0]!.map((_, scenario, { length }) => {
      const own = times.map((each) => each[scenario]!);
      const least = Math.min(...own);
      const most = least - MIN_OWN_SHARE * Math.min(least, MAX_LOAD_MS);
      const shared = Math.max(SHORTEST_MS, Math.min(sharedMs[scenario]!, most));
      return {
        weight: 1 / length,
        stretch: 1,
        means: Float64Array.from([...own.map((time) => time - shared), shared], Math.log),
        covariance: [
          ...covariance.map((row) => Float64Array.from([...row, 0])),
          Float64Array.from([...candidates.map(() => 0), SHARED_DEVIATION ** 2]),
        ],
      };
    });
    this.#drawnVariances = candidates.map((_, row) => this.#spreadOf(row));
  }

  /** Updates the own parts in all scenarios, and makes those likelier that predicted the ratio. */
  updateAll(observation: RatioObservation<Candidate>): void {
    for (const component of this.#components)
      component.weight *= updateScenarioBelief(component, this.#ratioIn(component, observation));
    this.#normalise();
  }

  /**
   * Updates the own parts of one scenario without a change of the scenarios' weights. The ratio was seen on other pages: it counts the less, the
   * less it is like what the emulation of this page expects.
   */
  updateScenario(scenario: number, observation: RatioObservation<Candidate>): void {
    const component = this.#components[scenario]!;
    updateScenarioBelief(component, doubtOutlier(component, this.#ratioIn(component, observation)));
  }

  /**
   * Updates by measured loads. What all of them take longer, or less, than the emulator's error explains says nothing of one candidate: it
   * becomes part of what all share, as time that is added where they take longer, as a factor where they take less.
   */
  updateByLoads(observations: readonly TimeObservation<Candidate>[]): void {
    if (observations.length === 0) return;
    for (const component of this.#components) {
      const common = this.#commonIn(component, observations);
      if (common !== null) absorbMisfit(component, common);
      for (const observation of observations) {
        const { isNew } = observation;
        const likelihood = updateScenarioBelief(component, this.#loadIn(component, observation, !isNew));
        if (!isNew) continue;
        component.weight *= observation === common?.observation ? common.likelihood : likelihood;
      }
    }
    this.#normalise();
  }

  /**
   * Keeps each candidate's gain over the baseline within a limit, in every scenario. A baseline gives way to the recorded candidate,
   * whose time is known; the other candidates give way to the baseline.
   *
   * @param limitMs the largest gain of a candidate in a scenario, milliseconds
   */
  limitGains(
    baseline: Candidate,
    recorded: Candidate | undefined,
    limitMs: (candidate: Candidate, scenario: number) => number,
  ): void {
    const base = this.#rows.get(baseline)!;
    for (const [scenario, { means, stretch }] of this.#components.entries()) {
      if (recorded !== undefined && recorded !== baseline) {
        const most =
          Math.exp(means[this.#rows.get(recorded)!]!) + Math.max(0, limitMs(recorded, scenario)) / stretch;
        means[base] = Math.min(means[base]!, Math.log(most));
      }
      const baseMs = Math.exp(means[base]!);
      for (const [candidate, row] of this.#rows) {
        const leastMs = baseMs - Math.max(0, limitMs(candidate, scenario)) / stretch;
        if (row !== base && leastMs > 0) means[row] = Math.max(means[row]!, Math.log(leastMs));
      }
    }
  }

  /** Variance between the scenarios of the logarithm of a candidate's load time. */
  #spreadOf(row: number): number {
    const logs = this.#components.map((component) => Math.log(totalMs(component, row)));
    const weightOf = (index: number) => this.#components[index]!.weight;
    const centre = logs.reduce((sum, log, index) => sum + weightOf(index) * log, 0);
    return logs.reduce((sum, log, index) => sum + weightOf(index) * (log - centre) ** 2, 0);
  }

  /** Expected log load time of a candidate. */
  meanLog(candidate: Candidate): number {
    const row = this.#rows.get(candidate)!;
    return this.#average((component) => Math.log(totalMs(component, row)));
  }

  /** Probability that `candidate`'s load time is below `factor` times that of `rival`, as a rule: single loads scatter around that. */
  probabilityBelow(candidate: Candidate, rival: Candidate, factor = 1): number {
    const own = this.#rows.get(candidate)!;
    const other = this.#rows.get(rival)!;
    return this.#average((component) => {
      const lead = Math.log((factor * totalMs(component, other)) / totalMs(component, own));
      const coefficients = gradientOf(component, own);
      for (const [index, slope] of gradientOf(component, other).entries()) coefficients[index]! -= slope;
      const variance = varianceOf(component, coefficients);
      return variance > 1e-12 ? normalCdf(lead / Math.sqrt(variance)) : lead > 0 ? 1 : lead < 0 ? 0 : 0.5;
    });
  }

  /**
   * Quantile of the time of one load of a candidate to come, milliseconds: it scatters around the time of its page and network, and has
   * losses of its own, which the loads that were seen showed only for themselves.
   */
  quantile(candidate: Candidate, share: number, { own, shared }: LoadScatter): number {
    const row = this.#rows.get(candidate)!;
    const lost = Math.max(0, this.#drawnVariances[row]! - this.#spreadOf(row));
    const normals = this.#components.map((component) => {
      const gradient = gradientOf(component, row);
      const scatter = own ** 2 + lost + (gradient.at(-1)! * shared) ** 2;
      return {
        weight: component.weight,
        mean: Math.log(totalMs(component, row)),
        deviation: Math.sqrt(varianceOf(component, gradient) + scatter),
      };
    });
    const widest = Math.max(...normals.map(({ deviation }) => deviation), 1e-6);
    let low = Math.min(...normals.map(({ mean }) => mean)) - TAIL * widest;
    let high = Math.max(...normals.map(({ mean }) => mean)) + TAIL * widest;
    for (let step = 0; step < STEPS; step++) {
      const middle = (low + high) / 2;
      let below = 0;
      for (const { weight, mean, deviation } of normals) {
        below += weight * normalCdf((middle - mean) / Math.max(deviation, 1e-6));
      }
      if (below < share) low = middle;
      else high = middle;
    }
    return Math.exp((low + high) / 2);
  }

  /** Mean of a figure over the scenarios, by their weights. */
  average(of: (scenario: number) => number): number {
    return this.#components.reduce((sum, { weight }, scenario) => sum + weight * of(scenario), 0);
  }

  /** How much longer than the fastest of `rivals` a candidate takes, as a fraction; the mean over the scenarios. */
  regret(candidate: Candidate, rivals: readonly Candidate[]): number {
    const row = this.#rows.get(candidate)!;
    const rows = rivals.map((rival) => this.#rows.get(rival)!);
    return this.#average((component) => {
      const fastestMs = Math.min(...rows.map((other) => totalMs(component, other)));
      return totalMs(component, row) / fastestMs - 1;
    });
  }

  #average(read: (component: ScenarioBelief) => number): number {
    let sum = 0;
    for (const component of this.#components) sum += component.weight * read(component);
    return sum;
  }

  #normalise(): void {
    const sum = this.#components.reduce((total, { weight }) => total + weight, 0);
    for (const component of this.#components) {
      // The observation is impossible in every scenario: their weights say nothing then.
      component.weight = sum > 0 ? component.weight / sum : 1 / this.#components.length;
    }
  }

  #ratioIn(
    { means }: ScenarioBelief,
    { candidate, rival, value, variance }: RatioObservation<Candidate>,
  ): LinearObservation {
    const row = this.#rows.get(candidate)!;
    const other = this.#rows.get(rival)!;
    const coefficients = new Float64Array(means.length);
    coefficients[row] = 1;
    coefficients[other]! -= 1;
    return { coefficients, surprise: value - (means[row]! - means[other]!), variance };
  }

  /** @param isOutlying whether the load counts the less, the less the emulator's error explains it: a single one may be an outlier */
  #loadIn(
    component: ScenarioBelief,
    { candidate, value, variance }: TimeObservation<Candidate>,
    isOutlying = false,
  ): LinearObservation {
    const row = this.#rows.get(candidate)!;
    const coefficients = gradientOf(component, row);
    const surprise = value - Math.log(totalMs(component, row));
    const observation = { coefficients, surprise, variance };
    return isOutlying ? doubtOutlier(component, observation) : observation;
  }

  /** The loads that surprise least, where all surprise in the same direction: no more is common to them. */
  #commonIn(component: ScenarioBelief, observations: readonly TimeObservation<Candidate>[]) {
    const all = observations.map((observation) => {
      const row = this.#rows.get(observation.candidate)!;
      const surprise = observation.value - Math.log(totalMs(component, row));
      const variance = observation.variance + varianceOf(component, gradientOf(component, row));
      return { observation, row, surprise, variance };
    });
    if (all.some(({ surprise }) => surprise > 0 !== all[0]!.surprise > 0)) return null;
    const least = all.reduce((a, b) => (Math.abs(b.surprise) < Math.abs(a.surprise) ? b : a));
    const { usual, misfit } = likelihoodsOf(least.surprise, least.variance);
    return { ...least, likelihood: usual + misfit, explained: usual / (usual + misfit) };
  }
}

/** The observation with the larger a variance, the less the emulator's error explains it. */
function doubtOutlier(component: ScenarioBelief, observation: LinearObservation): LinearObservation {
  const { coefficients, surprise, variance } = observation;
  const { usual, misfit } = likelihoodsOf(surprise, variance + varianceOf(component, coefficients));
  return { coefficients, surprise, variance: variance * (1 + misfit / Math.max(usual, Number.MIN_VALUE)) };
}
