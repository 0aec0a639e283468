import { type Arm, Beliefs, type Clusters } from './beliefs.ts';
import { type ClusterState, emptyCluster, MAX_LOADS_OF_ARM, MAX_SURPRISES } from './cluster-state.ts';
import { findChange } from './find-change.ts';
import { evaluate, type Objective } from './objective.ts';

/** The most that exploring may cost, as a share of the time of all loads. */
export const MAX_SPENT = 0.005;
/** The largest share of loads that explore. */
export const MAX_EXPLORED = 0.05;
/** The largest share of loads that explore where the runner-up is hardly ever better. */
const MIN_EXPLORED = 0.02;
/** A runner-up that is better with a smaller probability is not explored. */
const MIN_CHANCE = 0.01;
const DRAWS = 200;

/** An arm without a prediction is tried until it has as many loads. */
const MIN_UNKNOWN_LOADS = 5;
/** Loads after a change in which every arm may be tried. */
export const TRIAL_LOADS = 8;
/** What is usual for an arm is the median of its last loads. */
const MIN_LOADS_BEFORE = 4;
const MAX_LOADS_BEFORE = 20;
/** When the time of all loads is forgotten by half, in loads. */
const ACCOUNT_LOADS = 400;

/** `best`: the fastest arm so far; `trial`: after a change, an arm that may be the fastest; `explore`: the runner-up, to stay informed. */
export type ChoiceReason = 'best' | 'trial' | 'explore';

export interface Chosen {
  arm: string;
  reason: ChoiceReason;
}

export interface ExplorerQuestion {
  /** Keys of the clusters that the load belongs to, narrowest first, such as page and network, then network. */
  clusters: readonly string[];
  /** The page's usual load time, milliseconds, by which pages of one cluster are compared; always the same for a page. */
  scaleMs: number;
  /** At least one; the first is what happens without a choice. */
  arms: readonly Arm[];
  /** The first arm is left only for one that takes less time by at least this share. */
  minGain: number;
  objective: Objective;
  /** Uniform in [0, 1). */
  random: () => number;
}

/**
 * Chooses how to load pages and learns from how long they took, for each cluster of clients by itself: the closed loop of TCP WISE
 * (Nie et al., IWQoS 2018) on protocols in place of initial windows.
 *
 * The best arm is used until loads show a change. Then arms are tried by Thompson sampling until the best one is known again. In
 * between the runner-up is explored now and then, at a bounded cost. A network that changes has another key, so that its cluster begins
 * with the predictions for it.
 */
export class Explorer {
  readonly #clusters: Map<string, ClusterState>;

  constructor(clusters: ReadonlyMap<string, ClusterState> = new Map()) {
    this.#clusters = new Map(
      [...clusters].map(([key, state]) => [key, { ...state, arms: { ...state.arms } }]),
    );
  }

  /** State by cluster, to be stored. */
  get clusters(): ReadonlyMap<string, ClusterState> {
    return this.#clusters;
  }

  choose({ clusters, scaleMs, arms, objective, minGain, random }: ExplorerQuestion): Chosen {
    const states = this.#statesOf(clusters);
    const [state] = states;
    const unknown = leastKnown(states, arms);
    if (unknown !== null) return { arm: unknown, reason: 'trial' };
    const beliefs = new Beliefs(states, arms, scaleMs);
    if (state.trials > 0) {
      const drawn = arms.map(({ name }) => ({ name, ms: beliefs.draw(name, objective, random) }));
      return { arm: fastest(drawn).name, reason: 'trial' };
    }
    const valued = arms.map(({ name }) => ({ name, ms: beliefs.value(name, objective) }));
    const leader = fastest(valued);
    const best = leader.ms > (1 - minGain) * valued[0]!.ms ? valued[0]! : leader;
    const others = valued.filter((each) => each !== best);
    if (others.length > 0) {
      const runnerUp = fastest(others);
      if (random() < this.#share(state, beliefs, best, runnerUp, { objective, random }))
        return { arm: runnerUp.name, reason: 'explore' };
    }
    return { arm: best.name, reason: 'best' };
  }

  /** Notes how long a load took that was chosen for this question. */
  note({ clusters, scaleMs, arms, objective }: ExplorerQuestion, { arm, reason }: Chosen, ms: number): void {
    const before = this.#statesOf(clusters);
    const bestMs = leastKnown(before, arms) === null ? bestOf(before, arms, scaleMs, objective) : ms;
    for (const [index, key] of clusters.entries()) {
      const state = this.#stateOf(key);
      const used = arms.find(({ name }) => name === arm)!;
      const surprise = surpriseOf(state, used, ms / scaleMs, scaleMs);
      addLoad(state, arm, ms / scaleMs);
      if (index === 0) noteChange(state, surprise);
      state.totalMs += ms;
      if (reason === 'explore') state.spentMs += Math.max(0, ms - bestMs);
      if (state.loads % ACCOUNT_LOADS === 0) {
        state.totalMs /= 2;
        state.spentMs /= 2;
      }
      this.#clusters.set(key, state);
    }
  }

  /** Forgets what was measured in a cluster. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  #stateOf(key: string): ClusterState {
    return this.#clusters.get(key) ?? emptyCluster();
  }

  #statesOf([narrowest, ...wider]: readonly string[]): Clusters {
    return [this.#stateOf(narrowest!), ...wider.map((key) => this.#stateOf(key))];
  }

  /** Share of loads that explore the runner-up. */
  #share(
    { totalMs, spentMs }: ClusterState,
    beliefs: Beliefs,
    best: Valued,
    runnerUp: Valued,
    { objective, random }: Pick<ExplorerQuestion, 'objective' | 'random'>,
  ): number {
    const costMs = runnerUp.ms - best.ms;
    if (spentMs + costMs > MAX_SPENT * totalMs) return 0;
    let better = 0;
    for (let draw = 0; draw < DRAWS; draw++) {
      if (beliefs.draw(runnerUp.name, objective, random) < beliefs.draw(best.name, objective, random))
        better++;
    }
    const chance = better / DRAWS;
    return chance < MIN_CHANCE
      ? 0
      : Math.max(MIN_EXPLORED, Math.min(MAX_EXPLORED, MAX_EXPLORED * 2 * chance));
  }
}

interface Valued {
  name: string;
  ms: number;
}

const fastest = (arms: readonly Valued[]): Valued => arms.reduce((a, b) => (b.ms < a.ms ? b : a));

/** The arm without a prediction of which the fewest loads are known, also in wider clusters, if these are too few; null when there is none. */
function leastKnown(clusters: Clusters, arms: readonly Arm[]): string | null {
  const loadsOf = ({ name }: Arm) => Math.max(...clusters.map((each) => each.arms[name]?.length ?? 0));
  const unknown = arms.filter((arm) => arm.predicted === null && loadsOf(arm) < MIN_UNKNOWN_LOADS);
  if (unknown.length === 0) return null;
  return unknown.reduce((a, b) => (loadsOf(b) < loadsOf(a) ? b : a)).name;
}

function bestOf(clusters: Clusters, arms: readonly Arm[], scaleMs: number, objective: Objective): number {
  const beliefs = new Beliefs(clusters, arms, scaleMs);
  return Math.min(...arms.map(({ name }) => beliefs.value(name, objective)));
}

function addLoad(state: ClusterState, arm: string, relative: number): void {
  const loads = state.arms[arm] ?? [];
  state.arms[arm] = [...loads, { relative, at: state.loads }].slice(-MAX_LOADS_OF_ARM);
  state.loads++;
}

/**
 * The logarithm of a load time over what is usual for its arm: the median of its loads, or, where there are few, the upper end of its
 * prediction, within which nothing is a surprise. Null without both, and where loads have refuted predictions.
 *
 * @param relative load time over the page's scale
 */
function surpriseOf(
  state: ClusterState,
  { name, predicted }: Arm,
  relative: number,
  scaleMs: number,
): number | null {
  const loads = (state.arms[name] ?? []).slice(-MAX_LOADS_BEFORE);
  if (loads.length >= MIN_LOADS_BEFORE) {
    const times = loads.map((load) => ({ time: load.relative, weight: 1 }));
    return Math.log(relative / evaluate('median', times));
  }
  if (predicted === null || state.refuted) return null;
  return Math.max(0, Math.log((relative * scaleMs) / predicted.high));
}

/**
 * Begins a trial, and forgets the loads before, where the last loads show that the network is not what it was, or not what was predicted.
 *
 * @param surprise of the last load, see `surpriseOf`
 */
function noteChange(state: ClusterState, surprise: number | null): void {
  if (surprise !== null) state.surprises = [...state.surprises, surprise].slice(-MAX_SURPRISES);
  if (state.trials > 0) {
    state.trials--;
    return;
  }
  const since = surprise === null ? 0 : findChange(state.surprises);
  if (since === 0) return;
  const firstAt = state.loads - since;
  state.arms = Object.fromEntries(
    Object.entries(state.arms).map(([arm, loads]) => [arm, loads.filter(({ at }) => at >= firstAt)]),
  );
  state.surprises = state.surprises.slice(0, -since);
  state.refuted = true;
  state.trials = TRIAL_LOADS;
}
