import type { AssignedPrediction, OriginRecommendation, ProtocolPrediction } from '@hopwise/contract';
import { type Assignment, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { nearestTo, type TracedLoad, traceLoad } from '../explain/traced-load.ts';
import { count, NAME } from '../explain/words.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { EventBudget } from '../scenarios/event-budget.ts';
import { loadPage } from '../scenarios/load-page.ts';
import { loadTime } from '../scenarios/load-time.ts';
import { LoadTimes } from '../scenarios/load-times.ts';
import type { Question } from '../scenarios/question.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { ORIGIN_SHARE } from '../scenarios/spread.ts';
import { type UniformRun, uniformAssignment } from '../scenarios/uniform.ts';
import { mean } from '../util/statistics.ts';
import { type Choices, choicesOf } from './choices.ts';
import { compare } from './compare.ts';
import { isDecided, probabilityOfLeast } from './confidence.ts';
import { chooseJointly } from './joint-assignment.ts';
import { type Contender, originReason, pageReasons } from './reasons.ts';
import { originSlack, SLACK_SHARE } from './slack.ts';

/** What is best for a page on a network. */
export interface Choice {
  /** Each protocol that the network carries, the best first. */
  uniform: UniformRun[];
  times: Partial<Record<Protocol, ProtocolPrediction>>;
  /** Why each other protocol cannot carry the page. */
  unavailable: Partial<Record<Protocol, string>>;
  /** Best uniform choice with its lead over the runner-up. */
  best: Protocol;
  margin: number;
  confidence: number;
  decided: boolean;
  reasons: string[];
  assignment: Assignment;
  assigned: AssignedPrediction;
  origins: OriginRecommendation[];
  scenarios: readonly Scenario[];
  /** What was left out of the answer because emulating the page takes long: sentences. */
  notes: string[];
  /** Of all emulations but those of `traced`, a measure of its cost. */
  events: number;
  /** The load of the middle scenario under a protocol, looked into. */
  traced: (protocol: Protocol) => TracedLoad;
}

/**
 * Compares the protocols over scenarios and finds the best joint assignment.
 *
 * A uniform protocol is a what-if: it is applied to every origin, whether it offers it or not. The
 * assignment only uses what an origin offers and the network carries.
 */
export function choose(question: Question): Choice {
  const { graph, servers } = question;
  const budget = new EventBudget();
  const { runs, scenarios, unavailable, whole } = compare(question, budget);
  const usable = PROTOCOLS.filter((protocol) => unavailable[protocol] === undefined);
  const times: Choice['times'] = {};
  for (const { protocol, pltMs, paint } of runs) times[protocol] = { ...loadTime(pltMs), ...paint };
  const medianMs = ({ protocol }: UniformRun) => times[protocol]!.pltMs;
  runs.sort((a, b) => medianMs(a) - medianMs(b));
  putSafestFirst(runs);

  const loads = new Map<Protocol, TracedLoad>();
  const traced = (protocol: Protocol): TracedLoad => {
    const known = loads.get(protocol);
    if (known) return known;
    const { pltMs } = runs.find((run) => run.protocol === protocol)!;
    const scenario = scenarios[nearestTo(pltMs, times[protocol]!.pltMs)]!;
    const load = traceLoad(graph, scenario, uniformAssignment(graph, protocol));
    loads.set(protocol, load);
    return load;
  };
  const [best, runnerUp] = runs.map(
    (run): Contender => ({ run, pltMs: medianMs(run), traced: () => traced(run.protocol) }),
  ) as [Contender, Contender?];
  const rivals = runs.slice(1).map(({ pltMs }) => pltMs);
  const confidence = probabilityOfLeast(best.run.pltMs, rivals);
  const decided = runnerUp === undefined || isDecided(best.pltMs, runnerUp.pltMs, confidence);

  const loadTimes = new LoadTimes(graph, budget);
  for (const { protocol, pltMs } of runs)
    loadTimes.note(uniformAssignment(graph, protocol), scenarios, pltMs);
  const choices = choicesOf(graph, servers, usable);
  const joint = chooseJointly(
    { graph, choices, runs, scenarios, thorough: question.thorough ?? false },
    loadTimes,
  );
  const notes = whole ? [] : [`The protocols were compared on ${count(scenarios.length, 'network')} only.`];
  if (budget.isSpent('search')) notes.push('The search for the best mix of protocols was cut short.');
  const { origins, skipped } = recommendOrigins(
    question,
    choices,
    joint.assignment,
    joint.searched,
    runs,
    loadTimes,
    traced,
  );
  if (skipped > 0) {
    notes.push(
      `Other protocols were not tried for ${count(skipped, 'origin')}, those that move fewest bytes.`,
    );
  }
  return {
    uniform: runs,
    times,
    unavailable,
    best: best.run.protocol,
    margin: runnerUp === undefined ? 1 : Math.max(0, (runnerUp.pltMs - best.pltMs) / runnerUp.pltMs),
    confidence,
    decided,
    reasons:
      runnerUp === undefined
        ? [`Only ${NAME[best.run.protocol]} loads the page on this network.`]
        : pageReasons(question, best, runnerUp, decided, confidence),
    assignment: joint.assignment,
    assigned: joint.assigned,
    origins,
    scenarios,
    notes,
    events: budget.events,
    traced,
  };
}

/** What is the fastest in the median is not the best where its mean regret is above the least one by more than this. */
const WORTH_HEDGING = 0.03;

/**
 * Puts the protocol of the least regret first, the regret being by how much more than the fastest one a protocol takes, on the mean over
 * scenarios: what is a little faster mostly may be many times slower where UDP is held back.
 */
function putSafestFirst(runs: UniformRun[]): void {
  const regretOf = ({ pltMs }: UniformRun) =>
    mean(pltMs.map((time, scenario) => time / Math.min(...runs.map((run) => run.pltMs[scenario]!)) - 1));
  const safest = runs.reduce((a, b) => (regretOf(b) < regretOf(a) ? b : a));
  if (regretOf(runs[0]!) - regretOf(safest) <= WORTH_HEDGING) return;
  runs.splice(runs.indexOf(safest), 1);
  runs.unshift(safest);
}

function recommendOrigins(
  question: Question,
  choices: Choices,
  assignment: Assignment,
  scenarios: readonly Scenario[],
  runs: readonly UniformRun[],
  loadTimes: LoadTimes,
  traced: (protocol: Protocol) => TracedLoad,
): { origins: OriginRecommendation[]; skipped: number } {
  const { graph } = question;
  const { budget } = loadTimes;
  const slack = budget.isSpent('origins')
    ? graph.origins.map(() => 0)
    : originSlack(graph, loadPage(graph, scenarios[0]!, assignment, { budget, waterfall: true }));
  const sums = originSums(graph);
  const ownMs = mean(loadTimes.of(assignment, scenarios));
  let skipped = 0;

  const recommend = (index: number): OriginRecommendation => {
    const origin = graph.origins[index]!;
    const protocol = assignment[origin]!;
    const offered = choices.get(origin)!;
    // Requests with that much time to spare do not move the page, whatever carries them.
    const others = slack[index]! < SLACK_SHARE ? offered.filter((candidate) => candidate !== protocol) : [];
    const untried = others.length > 0 && budget.isSpent('origins');
    if (untried) skipped++;
    const rivals = (untried ? [] : others)
      .map((candidate) => moveTo(candidate, { ...assignment, [origin]: candidate }))
      .filter(({ ratios }) => ratios.every(Number.isFinite))
      .sort((a, b) => mean(a.ratios) - mean(b.ratios));
    const rival = rivals[0];
    const rivalMs = rival ? ownMs * mean(rival.ratios) : ownMs;
    const confidence = rival
      ? probabilityOfLeast(
          [1],
          rivals.map(({ ratios }) => [geometricMean(ratios)]),
          ORIGIN_SHARE,
        )
      : 1 / offered.length;
    const decided = rival !== undefined && isDecided(ownMs, rivalMs, confidence);
    const { requests, bytes } = sums[index]!;
    return {
      origin,
      requests,
      bytes,
      protocol,
      margin: Math.max(0, 1 - ownMs / rivalMs),
      confidence,
      pltMs: Object.fromEntries([
        [protocol, ownMs],
        ...rivals.map((each) => [each.protocol, ownMs * mean(each.ratios)] as const),
      ]),
      reason: originReason(
        {
          origin,
          protocol,
          rival: rival?.protocol ?? null,
          only: offered.length === 1,
          untried,
          gainMs: rivalMs - ownMs,
          pageMs: ownMs,
          decided,
          requests,
          counters: Object.fromEntries(runs.map((run) => [run.protocol, run.origins.get(origin)])),
          traced: (other) => (runs.some((run) => run.protocol === other) ? traced(other) : null),
        },
        question,
      ),
      decided,
    };
  };

  /** What the search has seen of a move; at least one scenario. */
  function moveTo(candidate: Protocol, moved: Assignment) {
    const known = loadTimes.known(moved, scenarios);
    const seen = known.length > 0 ? known : scenarios.slice(0, 1);
    const before = loadTimes.of(assignment, seen);
    const ratios = loadTimes.of(moved, seen).map((time, at) => time / before[at]!);
    return { protocol: candidate, ratios };
  }

  const origins = new Array<OriginRecommendation>(graph.origins.length);
  const heaviestFirst = [...graph.origins.keys()].sort((a, b) => sums[b]!.bytes - sums[a]!.bytes);
  for (const index of heaviestFirst) origins[index] = recommend(index);
  return { origins, skipped };
}

const geometricMean = (values: readonly number[]): number => Math.exp(mean(values.map(Math.log)));

function originSums(graph: PageGraph): { requests: number; bytes: number }[] {
  const sums = graph.origins.map(() => ({ requests: 0, bytes: 0 }));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const sum = sums[activity.origin]!;
    sum.requests++;
    sum.bytes += activity.responseBytes;
  }
  return sums;
}
