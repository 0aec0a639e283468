import { mean, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { EventBudget } from '../scenarios/event-budget.ts';
import type { Question } from '../scenarios/question.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { UniformLoads, type UniformRun } from '../scenarios/uniform.ts';
import { logRatio } from './confidence.ts';

/** Why a protocol cannot carry the page: UDP is blocked, or its load does not end. */
export type UnavailableCause = 'udp-blocked' | EndlessLoadError;

/** The protocols side by side, each applied to every origin. */
export interface Comparison {
  runs: UniformRun[];
  /** Those in which the page was loaded under every protocol of `runs`. */
  scenarios: readonly Scenario[];
  /** Why `runs` lacks each protocol that is not in it. */
  unavailable: Partial<Record<Protocol, UnavailableCause>>;
  /** Whether the budget allowed all scenarios that the comparison needs. */
  whole: boolean;
}

/** Scenarios are added in steps of this many, until the leaders' means are known to `PRECISION`. */
const SCENARIO_STEP = 6;
const MAX_SCENARIOS = 24;
const PRECISION = 0.04;
/** Activities of all of one protocol's scenarios together: a larger page is loaded in fewer scenarios. */
const MAX_ACTIVITIES = 12_000;

/**
 * Loads the page under each protocol in as many scenarios as the leaders' means need to be known, or as the budget allows.
 *
 * @throws EndlessLoadError when the page loads under no protocol
 */
export function compare({ graph, paint, path, scenarios, seeds }: Question, budget: EventBudget): Comparison {
  const unavailable: Comparison['unavailable'] = path.udp.kind === 'blocked' ? { h3: 'udp-blocked' } : {};
  let loads = PROTOCOLS.filter((protocol) => unavailable[protocol] === undefined).map(
    (protocol) => new UniformLoads(graph, paint, protocol, budget),
  );
  const affordable = Math.floor(MAX_ACTIVITIES / graph.activities.length);
  const maxCount = seeds ?? Math.min(MAX_SCENARIOS, Math.max(SCENARIO_STEP, affordable));
  for (let count = seeds ?? SCENARIO_STEP; ; count = Math.min(maxCount, count + SCENARIO_STEP)) {
    const wanted = scenarios(count);
    if (loads[0]!.pltMs.length === 0) loads = loadFirst(loads, wanted[0]!, unavailable);
    const loaded = loadMore(loads, wanted, budget);
    const whole = loaded === wanted.length;
    if (!whole || loaded < count || count >= maxCount || isKnown(loads)) {
      const runs = loads.map((load) => load.run());
      return { runs, scenarios: wanted.slice(0, loaded), unavailable, whole };
    }
  }
}

/** Loads the first scenario; returns the protocols under which the page loads at all. */
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
      unavailable[load.protocol] = error;
      last = error;
      return false;
    }
  });
  if (ending.length === 0) throw last;
  return ending;
}

/** @returns how many of the wanted scenarios, from the first on, every protocol has been loaded in */
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

/** Whether the means of the two fastest are known to `PRECISION`. */
function isKnown(loads: readonly UniformLoads[]): boolean {
  const fastest = loads.toSorted((a, b) => mean(a.pltMs) - mean(b.pltMs)).slice(0, 2);
  return fastest.every(({ pltMs }) => {
    const one = pltMs.map(() => 1);
    return logRatio(pltMs, one).standardError <= PRECISION;
  });
}
