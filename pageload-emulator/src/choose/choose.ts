import { nearestTo, type TracedLoad, traceLoad } from '../explain/traced-load.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { PaintModel } from '../paint-times.ts';
import type { NetworkPath, ServerProfile } from '../path/network-path.ts';
import type { AssignedPrediction, OriginRecommendation, ProtocolPrediction } from '../prediction.ts';
import { type Assignment, PROTOCOLS, type Protocol } from '../protocol.ts';
import { mean } from '../statistics.ts';
import { type Choices, choicesOf } from './choices.ts';
import { isDecided, logRatio, probabilityOfLeast } from './confidence.ts';
import { chooseJointly } from './joint-assignment.ts';
import { loadPage } from './load-page.ts';
import { loadTime } from './load-time.ts';
import { LoadTimes } from './load-times.ts';
import { type Contender, originReason, pageReasons } from './reasons.ts';
import type { Scenario } from './scenario.ts';
import { originSlack, SLACK_SHARE } from './slack.ts';
import { ORIGIN_SHARE } from './spread.ts';
import { UniformLoads, type UniformRun, uniformAssignment } from './uniform.ts';

/** A page on a network whose protocols are to be compared. */
export interface Question {
  graph: PageGraph;
  paint: PaintModel;
  /** The likeliest network and servers. */
  path: NetworkPath;
  servers: readonly ServerProfile[];
  /** The first `count` scenarios; fewer where there are no more. */
  scenarios: (count: number) => readonly Scenario[];
  /** How many to use; as many as the answer needs when absent. */
  seeds?: number;
  /** Whether to search longer for the best assignment of many origins. Default false. */
  thorough?: boolean;
}

/** What is best for a page on a network. */
export interface Choice {
  /** Each protocol that the network carries, the best first. */
  uniform: UniformRun[];
  times: Partial<Record<Protocol, ProtocolPrediction>>;
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
  /** The load of the middle scenario under a protocol, looked into. */
  traced: (protocol: Protocol) => TracedLoad;
}

/** Scenarios are added in steps of this many, until the leaders' means are known to `PRECISION`. */
const SCENARIO_STEP = 6;
const MOST_SCENARIOS = 24;
const PRECISION = 0.04;
/** Activities that all of a protocol's scenarios may have together: a larger page gets fewer. */
const MOST_ACTIVITIES = 12_000;

/**
 * Compares the protocols over scenarios and finds the best joint assignment.
 *
 * A uniform protocol is a what-if: it is applied to every origin, whether it offers it or not. The
 * assignment only uses what an origin offers and the network carries.
 */
export function choose(question: Question): Choice {
  const { graph, path, servers } = question;
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked');
  const { runs, scenarios } = runUniform(question, usable);
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
  ) as [Contender, Contender];
  const rivals = runs.slice(1).map(({ pltMs }) => pltMs);
  const confidence = probabilityOfLeast(best.run.pltMs, rivals);
  const decided = isDecided(best.pltMs, runnerUp.pltMs, confidence);

  const loadTimes = new LoadTimes(graph);
  for (const { protocol, pltMs } of runs)
    loadTimes.note(uniformAssignment(graph, protocol), scenarios, pltMs);
  const choices = choicesOf(graph, servers, usable);
  const joint = chooseJointly(
    { graph, choices, runs, scenarios, thorough: question.thorough ?? false },
    loadTimes,
  );
  return {
    uniform: runs,
    times,
    best: best.run.protocol,
    margin: Math.max(0, (runnerUp.pltMs - best.pltMs) / runnerUp.pltMs),
    confidence,
    decided,
    reasons: pageReasons(question, best, runnerUp, decided, confidence),
    assignment: joint.assignment,
    assigned: joint.assigned,
    origins: recommendOrigins(question, choices, joint.assignment, joint.searched, runs, loadTimes, traced),
    scenarios,
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

/** Loads the page under each protocol in as many scenarios as it takes to know the leaders' medians. */
function runUniform(
  { graph, paint, scenarios, seeds }: Question,
  usable: readonly Protocol[],
): { runs: UniformRun[]; scenarios: readonly Scenario[] } {
  const loads = usable.map((protocol) => new UniformLoads(graph, paint, protocol));
  const affordable = Math.floor(MOST_ACTIVITIES / graph.activities.length);
  const most = seeds ?? Math.min(MOST_SCENARIOS, Math.max(SCENARIO_STEP, affordable));
  let drawn: readonly Scenario[] = [];
  for (let count = seeds ?? SCENARIO_STEP; ; count = Math.min(most, count + SCENARIO_STEP)) {
    const before = drawn.length;
    drawn = scenarios(count);
    for (const load of loads) load.add(drawn.slice(before));
    if (drawn.length < count || count >= most || isKnown(loads)) break;
  }
  return { runs: loads.map((load) => load.run()), scenarios: drawn };
}

/** Whether the mean of the fastest, and its ratio to the next, are known well enough. */
function isKnown(loads: readonly UniformLoads[]): boolean {
  const [first, second] = loads.toSorted((a, b) => mean(a.pltMs) - mean(b.pltMs)) as [
    UniformLoads,
    UniformLoads,
  ];
  const one = first.pltMs.map(() => 1);
  return [logRatio(first.pltMs, one), logRatio(second.pltMs, one)].every(
    ({ standardError }) => standardError <= PRECISION,
  );
}

function recommendOrigins(
  question: Question,
  choices: Choices,
  assignment: Assignment,
  scenarios: readonly Scenario[],
  runs: readonly UniformRun[],
  loadTimes: LoadTimes,
  traced: (protocol: Protocol) => TracedLoad,
): OriginRecommendation[] {
  const { graph } = question;
  const slack = originSlack(graph, loadPage(graph, scenarios[0]!, assignment, { waterfall: true }));
  const sums = originSums(graph);
  const ownMs = mean(loadTimes.of(assignment, scenarios));
  return graph.origins.map((origin, index): OriginRecommendation => {
    const protocol = assignment[origin]!;
    // Requests with that much time to spare do not move the page, whatever carries them.
    const idle = slack[index]! >= SLACK_SHARE;
    const offered = choices.get(origin)!;
    const rivals = (idle ? [] : offered)
      .filter((candidate) => candidate !== protocol)
      .map((candidate) => moveTo(candidate, { ...assignment, [origin]: candidate }))
      .sort((a, b) => mean(a.ratios) - mean(b.ratios));

    /** What the search has seen of a move; at least one scenario. */
    function moveTo(candidate: Protocol, moved: Assignment) {
      const known = loadTimes.known(moved, scenarios);
      const seen = known.length > 0 ? known : scenarios.slice(0, 1);
      const before = loadTimes.of(assignment, seen);
      const ratios = loadTimes.of(moved, seen).map((time, at) => time / before[at]!);
      return { protocol: candidate, ratios };
    }

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
  });
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
