import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { EventBudget } from '../scenarios/event-budget.ts';
import type { Question } from '../scenarios/question.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { UniformLoads, type UniformRun } from '../scenarios/uniform.ts';
import { mean } from '../util/statistics.ts';
import { logRatio } from './confidence.ts';

/** The protocols side by side: each on every origin. */
export interface Comparison {
  runs: UniformRun[];
  /** In which all were loaded. */
  scenarios: readonly Scenario[];
  /** Why each other protocol cannot carry the page: clauses. */
  unavailable: Partial<Record<Protocol, string>>;
  /** Whether the budget was enough for the scenarios that it takes. */
  whole: boolean;
}

/** Scenarios are added in steps of this many, until the leaders' means are known to `PRECISION`. */
const SCENARIO_STEP = 6;
const MOST_SCENARIOS = 24;
const PRECISION = 0.04;
/** Activities that all of a protocol's scenarios may have together: a larger page gets fewer. */
const MOST_ACTIVITIES = 12_000;

/**
 * Loads the page under each protocol in as many scenarios as it takes to know the leaders' means, or as the budget allows.
 *
 * @throws EndlessLoadError when it loads under none
 */
export function compare({ graph, paint, path, scenarios, seeds }: Question, budget: EventBudget): Comparison {
  const unavailable: Comparison['unavailable'] =
    path.udp.kind === 'blocked' ? { h3: 'UDP is blocked on this network' } : {};
  let loads = PROTOCOLS.filter((protocol) => unavailable[protocol] === undefined).map(
    (protocol) => new UniformLoads(graph, paint, protocol, budget),
  );
  const affordable = Math.floor(MOST_ACTIVITIES / graph.activities.length);
  const most = seeds ?? Math.min(MOST_SCENARIOS, Math.max(SCENARIO_STEP, affordable));
  for (let count = seeds ?? SCENARIO_STEP; ; count = Math.min(most, count + SCENARIO_STEP)) {
    const wanted = scenarios(count);
    if (loads[0]!.pltMs.length === 0) loads = loadFirst(loads, wanted[0]!, unavailable);
    const loaded = loadMore(loads, wanted, budget);
    const whole = loaded === wanted.length;
    if (!whole || loaded < count || count >= most || isKnown(loads)) {
      const runs = loads.map((load) => load.run());
      return { runs, scenarios: wanted.slice(0, loaded), unavailable, whole };
    }
  }
}

/** Those under which the page loads at all. */
function loadFirst(
  loads: readonly UniformLoads[],
  scenario: Scenario,
  unavailable: Comparison['unavailable'],
): UniformLoads[] {
  let last: EndlessLoadError | undefined;
  const ending = loads.filter((load) => {
    try {
      load.add([scenario]);
      return true;
    } catch (error) {
      if (!(error instanceof EndlessLoadError)) throw error;
      unavailable[load.protocol] = error.message;
      last = error;
      return false;
    }
  });
  if (ending.length === 0) throw last;
  return ending;
}

/** @returns the scenarios in which all are loaded now, the first of those that are wanted */
function loadMore(loads: readonly UniformLoads[], wanted: readonly Scenario[], budget: EventBudget): number {
  for (let at = loads[0]!.pltMs.length; at < wanted.length; at++) {
    if (budget.isSpent('scenarios')) return at;
    try {
      for (const load of loads) load.add([wanted[at]!]);
    } catch (error) {
      if (!(error instanceof EndlessLoadError)) throw error;
      for (const load of loads) load.keep(at);
      return at;
    }
  }
  return wanted.length;
}

/** Whether the mean of the fastest, and its ratio to the next, are known well enough. */
function isKnown(loads: readonly UniformLoads[]): boolean {
  const fastest = loads.toSorted((a, b) => mean(a.pltMs) - mean(b.pltMs)).slice(0, 2);
  return fastest.every(({ pltMs }) => {
    const one = pltMs.map(() => 1);
    return logRatio(pltMs, one).standardError <= PRECISION;
  });
}
