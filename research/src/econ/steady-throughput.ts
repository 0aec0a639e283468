import { climb, type Epoch, epochAfterLoss, type FlowConditions } from '@hopwise/pageload-emulator/econ';
import { expectedDuration, expectedFirstLoss, expectedWindowAtLoss } from './period-sums.ts';
import { WindowGrid } from './window-grid.ts';

/** How often a flow begins anew, at a window of one segment, so that from every state every regime is left. */
const RESTART = 1e-9;

/** A long flow's means over triple-duplicate periods. */
export interface SteadyState {
  segmentsPerMs: number;
  /** Mean window at a loss. */
  windowAtLoss: number;
  /** Mean time from one loss to the next. */
  periodMs: number;
  /** How often a period's loss comes below the last plateau, so that Cubic gives up room. */
  fastConvergence: number;
}

/** One state's period. */
interface State {
  segments: number;
  durationMs: number;
  windowAtLoss: number;
  /** Where its loss leads, and how likely. */
  to: { state: number; probability: number }[];
}

/**
 * Throughput of a long flow: ECON's B over the periods as they follow one another. A period's loss gives the next
 * one's scwnd and W_max, so that the periods are a Markov chain on the window at the loss and on whether it was
 * below the last plateau. Its stationary distribution weighs E[N] and the duration apart: the mean of
 * a ratio is not the ratio of the means.
 *
 * @throws RangeError when the loss is too rare for a climb ever to end
 */
export function steadyThroughput(conditions: FlowConditions): SteadyState {
  const states: State[] = [];
  const grid = new WindowGrid(largestWindow(conditions));
  const cubic = conditions.congestionControl === 'cubic';
  for (const window of grid.windows) {
    for (const below of cubic ? [false, true] : [false]) {
      states.push(stateOf(conditions, epochAfter(conditions, window, below), grid));
    }
  }
  const shares = stationary(states);
  const mean = (of: (state: State) => number) =>
    states.reduce((sum, state, index) => sum + shares[index]! * of(state), 0);
  const periodMs = mean(({ durationMs }) => durationMs);
  return {
    segmentsPerMs: mean(({ segments }) => segments) / periodMs,
    windowAtLoss: mean(({ windowAtLoss }) => windowAtLoss),
    periodMs,
    fastConvergence: cubic ? shares.reduce((sum, share, index) => sum + (index % 2 === 1 ? share : 0), 0) : 0,
  };
}

/**
 * The epoch of a state: after a loss in `window`, which was below its plateau or not.
 */
export function epochAfter(conditions: FlowConditions, window: number, below: boolean): Epoch {
  return epochAfterLoss(conditions.congestionControl, window, below ? Number.POSITIVE_INFINITY : 0);
}

function stateOf(conditions: FlowConditions, epoch: Epoch, grid: WindowGrid): State {
  const rounds = climb(conditions, epoch);
  const to = new Map<number, number>();
  const cubic = conditions.congestionControl === 'cubic';
  for (const { window, reached, firstLost } of rounds) {
    const probability = reached * firstLost.probability;
    if (probability === 0) continue;
    const { index, share } = grid.locate(window);
    const below = cubic && window < epoch.windowMax ? 1 : 0;
    for (const [at, weight] of [
      [index, 1 - share],
      [index + 1, share],
    ] as const) {
      if (weight === 0) continue;
      const state = cubic ? 2 * at + below : at;
      to.set(state, (to.get(state) ?? 0) + probability * weight);
    }
  }
  const windowAtLoss = expectedWindowAtLoss(rounds);
  return {
    segments: expectedFirstLoss(rounds) - 1 + windowAtLoss,
    durationMs: expectedDuration(rounds),
    windowAtLoss,
    to: [...to].map(([state, probability]) => ({ state, probability })),
  };
}

/**
 * Stationary probabilities by elimination of state after state without a subtraction (Grassmann, Taksar and Heyman,
 * 1985): chains with regimes that are left once in many thousand periods are as good as others.
 */
function stationary(states: readonly State[]): Float64Array {
  const size = states.length;
  const steps = states.map(({ to }) => {
    const row = new Float64Array(size);
    for (const { state, probability } of to) row[state]! += (1 - RESTART) * probability;
    row[0]! += RESTART;
    return row;
  });
  for (let last = size - 1; last > 0; last--) {
    const from = steps[last]!;
    let leaves = 0;
    for (let state = 0; state < last; state++) leaves += from[state]!;
    for (let state = 0; state < last; state++) {
      const row = steps[state]!;
      const weight = row[last]! / leaves;
      row[last] = weight;
      if (weight > 0) for (let to = 0; to < last; to++) row[to]! += weight * from[to]!;
    }
  }
  const shares = new Float64Array(size);
  shares[0] = 1;
  let total = 1;
  for (let state = 1; state < size; state++) {
    for (let before = 0; before < state; before++) shares[state]! += shares[before]! * steps[before]![state]!;
    total += shares[state]!;
  }
  return shares.map((share) => share / total);
}

/**
 * A window that losses hardly ever come above: the largest of climbs that start one from another until they rise no
 * further.
 */
function largestWindow(conditions: FlowConditions): number {
  let largest = 2;
  for (;;) {
    const end = climb(conditions, epochAfterLoss(conditions.congestionControl, largest, 0)).at(-1)!.window;
    if (end <= largest * 1.01) return Math.max(largest, end);
    largest = end;
  }
}
