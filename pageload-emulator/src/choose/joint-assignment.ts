import type { AssignedPrediction, Assignment, Protocol } from '@hopwise/contract';
import { EmulationError } from '../emulate/emulate.ts';
import { ms, NAME, percent } from '../explain/words.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadTime } from '../scenarios/load-time.ts';
import type { LoadTimes } from '../scenarios/load-times.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { ORIGIN_SHARE } from '../scenarios/spread.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import { assign, FEW_ORIGINS } from './assign.ts';
import { type Choices, nearestUniform } from './choices.ts';
import { isDecided, logRatio, probabilityOfLeast } from './confidence.ts';

/** What a joint assignment is chosen from. */
export interface JointQuestion {
  graph: PageGraph;
  choices: Choices;
  /** The best first. */
  runs: readonly Pick<UniformRun, 'protocol'>[];
  scenarios: readonly Scenario[];
  thorough: boolean;
}

export interface JointChoice {
  assignment: Assignment;
  assigned: AssignedPrediction;
  /** Scenarios in which it was searched for. */
  searched: readonly Scenario[];
}

/** Emulations that a search may take, and scenarios that it compares assignments in; of few origins an emulation takes less time. */
const EFFORT = {
  ordinary: { few: { emulations: 60, scenarios: 3 }, many: { emulations: 50, scenarios: 3 } },
  thorough: { few: { emulations: 300, scenarios: 6 }, many: { emulations: 70, scenarios: 3 } },
} as const;

/**
 * The best joint assignment that the search finds, if it is better than one protocol for all. The best of many on a few scenarios
 * owes some of its lead to those: it is judged on the others, and has to be ahead there by more than the standard error.
 */
export function chooseJointly(question: JointQuestion, times: LoadTimes): JointChoice {
  const { graph, choices, scenarios, thorough } = question;
  const few = graph.origins.length <= FEW_ORIGINS ? 'few' : 'many';
  const effort = EFFORT[thorough ? 'thorough' : 'ordinary'][few];
  const searched = scenarios.slice(0, effort.scenarios);
  const starts = startsOf(question, times);
  const uniform = starts
    .map((start) => ({ ...start, time: loadTime(times.of(start.assignment, scenarios)) }))
    .reduce((a, b) => (b.time.pltMs < a.time.pltMs ? b : a));
  const found = assign(
    graph,
    choices,
    searched,
    starts.map(({ assignment }) => assignment),
    times,
    effort.emulations,
  );
  const name = NAME[uniform.protocol];
  if (!isBetter(found, uniform.assignment, scenarios, searched.length, times)) {
    return {
      assignment: uniform.assignment,
      assigned: {
        ...uniform.time,
        margin: 0,
        confidence: 0.5,
        decided: false,
        reason: `No mix of protocols surely loads the page sooner than ${name} for every origin that offers it.`,
      },
      searched,
    };
  }
  const own = times.of(found, scenarios);
  const time = loadTime(own);
  const confidence = probabilityOfLeast(own, [times.of(uniform.assignment, scenarios)], ORIGIN_SHARE);
  const decided = isDecided(time.pltMs, uniform.time.pltMs, confidence);
  const margin = Math.max(0, 1 - time.pltMs / uniform.time.pltMs);
  const moved = graph.origins.filter((origin) => found[origin] !== uniform.assignment[origin]);
  const lead = `${ms(uniform.time.pltMs - time.pltMs)} (${percent(margin)}) sooner than with ${name} for every origin that offers it`;
  return {
    assignment: found,
    assigned: {
      ...time,
      margin,
      confidence,
      decided,
      reason: decided
        ? `With other protocols for ${moved.length} of ${graph.origins.length} origins the page loads ${lead}.`
        : `With other protocols for ${moved.length} of ${graph.origins.length} origins the page might load ${lead}: too little to be sure.`,
    },
    searched,
  };
}

/** One protocol for every origin that offers it, of those with which the page loads; of a page that is dear to emulate the first. */
function startsOf({ choices, runs, scenarios }: JointQuestion, times: LoadTimes) {
  const starts: { protocol: Protocol; assignment: Assignment }[] = [];
  for (const { protocol } of runs) {
    if (starts.length > 0 && times.budget.isSpent('search')) break;
    const assignment = nearestUniform(choices, protocol);
    if (times.of(assignment, scenarios).every(Number.isFinite)) starts.push({ protocol, assignment });
  }
  if (starts.length > 0) return starts;
  throw new EmulationError('the page does not load on this network with what its servers offer');
}

/** Fewer scenarios judge nothing. */
const FEWEST_JUDGES = 3;
/** Standard errors behind, after which the rest of them need not be heard. */
const SURELY_BEHIND = 2;

function isBetter(
  found: Assignment,
  uniform: Assignment,
  scenarios: readonly Scenario[],
  searched: number,
  times: LoadTimes,
): boolean {
  const unseen = scenarios.slice(searched);
  const judges = unseen.length >= FEWEST_JUDGES ? unseen : scenarios;
  const leadIn = (some: readonly Scenario[]) => logRatio(times.of(found, some), times.of(uniform, some));
  for (let count = FEWEST_JUDGES; count < judges.length; count++) {
    const { mean, standardError } = leadIn(judges.slice(0, count));
    if (mean > SURELY_BEHIND * standardError) return false;
  }
  const { mean, standardError } = leadIn(judges);
  return (
    mean < -standardError &&
    loadTime(times.of(found, scenarios)).pltMs <= loadTime(times.of(uniform, scenarios)).pltMs
  );
}
