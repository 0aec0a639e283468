import type { AssignedPrediction, Assignment, Protocol } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadTime } from '../scenarios/load-time.ts';
import type { LoadTimes } from '../scenarios/load-times.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { ORIGIN_SHARE } from '../scenarios/spread.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import { assign, FEW_ORIGINS } from './assign.ts';
import { type Choices, nearestUniform } from './choices.ts';
import { isDecided, logRatio, probabilityOfLeast } from './confidence.ts';

/** The page, the protocols and the scenarios that a joint assignment is chosen for. */
interface JointQuestion {
  graph: PageGraph;
  choices: Choices;
  /** The best first. */
  runs: readonly Pick<UniformRun, 'protocol'>[];
  scenarios: readonly Scenario[];
  thorough: boolean;
}

export interface JointChoice {
  assignment: Assignment;
  assigned: Omit<AssignedPrediction, 'reason'>;
  /** The best single protocol for every origin that offers it, and its median load time. */
  uniform: { protocol: Protocol; pltMs: number };
  /** How many origins are assigned another protocol than in `uniform`; null when no mix is surely better. */
  moved: number | null;
  /** Scenarios in which assignments were searched for. */
  searched: readonly Scenario[];
}

/** Emulations that a search may take, and scenarios in which it compares assignments; pages of few origins emulate faster. */
const EFFORT = {
  ordinary: { few: { emulations: 60, scenarios: 3 }, many: { emulations: 50, scenarios: 3 } },
  thorough: { few: { emulations: 300, scenarios: 6 }, many: { emulations: 70, scenarios: 3 } },
} as const;

/**
 * Chooses the best joint assignment that the search finds, if it is better than one protocol for all. The winner of many
 * on a few scenarios owes part of its lead to those scenarios, so it is judged on the others, where its lead must exceed
 * the standard error.
 *
 * @throws EndlessLoadError when the page loads under no protocol with what its servers offer
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
  const reference = { protocol: uniform.protocol, pltMs: uniform.time.pltMs };
  if (!isBetter(found, uniform.assignment, scenarios, searched.length, times)) {
    return {
      assignment: uniform.assignment,
      assigned: { ...uniform.time, margin: 0, confidence: 0.5, decided: false },
      uniform: reference,
      moved: null,
      searched,
    };
  }
  const own = times.of(found, scenarios);
  const time = loadTime(own);
  const confidence = probabilityOfLeast(own, [times.of(uniform.assignment, scenarios)], ORIGIN_SHARE);
  return {
    assignment: found,
    assigned: {
      ...time,
      margin: Math.max(0, 1 - time.pltMs / uniform.time.pltMs),
      confidence,
      decided: isDecided(time.pltMs, uniform.time.pltMs, confidence),
    },
    uniform: reference,
    moved: graph.origins.filter((origin) => found[origin] !== uniform.assignment[origin]).length,
    searched,
  };
}

/** One protocol for every origin that offers it, for each protocol with which the page loads; only the first when the budget is spent. */
function startsOf({ choices, runs, scenarios }: JointQuestion, times: LoadTimes) {
  const starts: { protocol: Protocol; assignment: Assignment }[] = [];
  for (const { protocol } of runs) {
    if (starts.length > 0 && times.budget.isSpent('search')) break;
    const assignment = nearestUniform(choices, protocol);
    if (times.of(assignment, scenarios).every(Number.isFinite)) starts.push({ protocol, assignment });
  }
  if (starts.length > 0) return starts;
  throw new EndlessLoadError('the page does not load on this network with what its servers offer', null);
}

/** Fewer scenarios are too few to judge by. */
const MIN_JUDGES = 3;
/** An assignment this many standard errors behind is rejected before all scenarios are emulated. */
const SURELY_BEHIND = 2;

function isBetter(
  found: Assignment,
  uniform: Assignment,
  scenarios: readonly Scenario[],
  searched: number,
  times: LoadTimes,
): boolean {
  const unseen = scenarios.slice(searched);
  const judges = unseen.length >= MIN_JUDGES ? unseen : scenarios;
  const leadIn = (some: readonly Scenario[]) => logRatio(times.of(found, some), times.of(uniform, some));
  for (let count = MIN_JUDGES; count < judges.length; count++) {
    const { mean, standardError } = leadIn(judges.slice(0, count));
    if (mean > SURELY_BEHIND * standardError) return false;
  }
  const { mean, standardError } = leadIn(judges);
  return (
    mean < -standardError &&
    loadTime(times.of(found, scenarios)).pltMs <= loadTime(times.of(uniform, scenarios)).pltMs
  );
}
