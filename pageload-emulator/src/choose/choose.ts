import { type Assignment, mean, PROTOCOLS, type Protocol, type ProtocolPrediction } from '@hopwise/contract';
import { EventBudget } from '../scenarios/event-budget.ts';
import { loadTime } from '../scenarios/load-time.ts';
import { LoadTimes } from '../scenarios/load-times.ts';
import type { Question } from '../scenarios/question.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { type UniformRun, uniformAssignment } from '../scenarios/uniform.ts';
import { type TracedLoad, traceLoad } from '../trace/traced-load.ts';
import { indexOfNearest } from '../util/statistics.ts';
import { type Choices, choicesOf } from './choices.ts';
import { compare, type UnavailableCause } from './compare.ts';
import { isDecided, probabilityOfLeast } from './confidence.ts';
import { chooseJointly, type JointChoice } from './joint-assignment.ts';
import { chooseByOrigin, type OriginChoices } from './origin-choice.ts';

/** What was left out because emulating the page takes long. */
export interface Omissions {
  /** Scenarios in which the protocols were compared, when that were fewer than needed; else null. */
  comparedOn: number | null;
  /** Whether the search for the joint assignment was cut short. */
  searchCut: boolean;
}

/** What is best for a page on a network, in numbers; `explain/` puts it into words. */
export interface Choice {
  /** Each protocol under which the page loads, the best first. */
  uniform: UniformRun[];
  times: Partial<Record<Protocol, ProtocolPrediction>>;
  /** Why each protocol that is left out cannot carry the page. */
  unavailable: Partial<Record<Protocol, UnavailableCause>>;
  best: Protocol;
  /** Lead of `best` over the runner-up as a fraction of the runner-up's time; 1 when there is no runner-up. */
  margin: number;
  confidence: number;
  decided: boolean;
  joint: JointChoice;
  /** The protocols that each origin may be assigned. */
  choices: Choices;
  /** Compares the protocols of each origin, in order of `PageGraph.origins`, while the others stay as assigned; each assignment once. */
  judgeOrigins: (assignment: Assignment) => OriginChoices;
  scenarios: readonly Scenario[];
  /** All load times that were emulated for the choice. */
  loadTimes: LoadTimes;
  omissions: Omissions;
  /** Events of all emulations but those of `traced`, a measure of the choice's cost. */
  events: number;
  /** Traces a protocol's load in the scenario of median load time; each is emulated once. */
  traced: (protocol: Protocol) => TracedLoad;
}

/**
 * Compares the protocols over scenarios and finds the best joint assignment.
 *
 * A uniform protocol is a what-if: it is applied to every origin, whether the origin offers it or not. The
 * assignment uses only what an origin offers and the network carries.
 *
 * @throws EndlessLoadError when the page loads under no protocol
 */
export function choose(question: Question): Choice {
  const { graph, paint: paintModel, servers } = question;
  const budget = new EventBudget();
  const { runs, scenarios, unavailable, whole } = compare(question, budget);
  const usable = PROTOCOLS.filter((protocol) => unavailable[protocol] === undefined);
  const times: Choice['times'] = {};
  for (const { protocol, pltMs, paint } of runs) {
    const time = loadTime(pltMs);
    times[protocol] = { ...time, ...paintModel.keepBeforeLoad(paint, time.pltMs) };
  }
  const medianMs = ({ protocol }: UniformRun) => times[protocol]!.pltMs;
  runs.sort((a, b) => medianMs(a) - medianMs(b));
  putSafestFirst(runs);

  const [best, ...rivals] = runs as [UniformRun, ...UniformRun[]];
  const bestMs = medianMs(best);
  const runnerUpMs = rivals[0] === undefined ? null : medianMs(rivals[0]);
  const confidence = probabilityOfLeast(
    best.pltMs,
    rivals.map(({ pltMs }) => pltMs),
  );

  const loadTimes = new LoadTimes(graph, budget);
  for (const { protocol, pltMs } of runs)
    loadTimes.note(uniformAssignment(graph, protocol), scenarios, pltMs);
  const choices = choicesOf(graph, servers, usable);
  const joint = chooseJointly(
    { graph, choices, runs, scenarios, thorough: question.thorough ?? false },
    loadTimes,
  );
  const searchCut = budget.isSpent('search');
  return {
    uniform: runs,
    times,
    unavailable,
    best: best.protocol,
    margin: runnerUpMs === null ? 1 : Math.max(0, (runnerUpMs - bestMs) / runnerUpMs),
    confidence,
    decided: runnerUpMs === null || isDecided(bestMs, runnerUpMs, confidence),
    joint,
    choices,
    judgeOrigins: judge((assignment) =>
      chooseByOrigin(graph, choices, { assignment, searched: joint.searched }, loadTimes),
    ),
    scenarios,
    loadTimes,
    omissions: { comparedOn: whole ? null : scenarios.length, searchCut },
    get events() {
      return budget.events;
    },
    traced: tracer((protocol) => {
      const { pltMs } = runs.find((run) => run.protocol === protocol)!;
      const scenario = scenarios[indexOfNearest(pltMs, times[protocol]!.pltMs)]!;
      return traceLoad(graph, scenario, uniformAssignment(graph, protocol));
    }),
  };
}

/** The fastest in the median is not the best when its mean regret exceeds the smallest one by more than this. */
const MIN_REGRET_TO_HEDGE = 0.03;

/**
 * Puts the protocol of the smallest mean regret first, regret being how much longer than the fastest one a protocol takes in a
 * scenario: a protocol that is usually a little faster may be many times slower where UDP is held back.
 */
function putSafestFirst(runs: UniformRun[]): void {
  const regretOf = ({ pltMs }: UniformRun) =>
    mean(pltMs.map((time, scenario) => time / Math.min(...runs.map((run) => run.pltMs[scenario]!)) - 1));
  const safest = runs.reduce((a, b) => (regretOf(b) < regretOf(a) ? b : a));
  if (regretOf(runs[0]!) - regretOf(safest) <= MIN_REGRET_TO_HEDGE) return;
  runs.splice(runs.indexOf(safest), 1);
  runs.unshift(safest);
}

function judge(of: (assignment: Assignment) => OriginChoices): Choice['judgeOrigins'] {
  const known = new Map<Assignment, OriginChoices>();
  return (assignment) => {
    const choices = known.get(assignment) ?? of(assignment);
    known.set(assignment, choices);
    return choices;
  };
}

function tracer(trace: (protocol: Protocol) => TracedLoad): Choice['traced'] {
  const loads = new Map<Protocol, TracedLoad>();
  return (protocol) => {
    const load = loads.get(protocol) ?? trace(protocol);
    loads.set(protocol, load);
    return load;
  };
}
