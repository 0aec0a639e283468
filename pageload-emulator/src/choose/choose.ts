import type { PageGraph } from '../graph/page-graph.ts';
import type { FigureSource, NetworkFigure, NetworkPath, ServerProfile } from '../path/network-path.ts';
import type { OriginRecommendation } from '../prediction.ts';
import { type Assignment, PROTOCOLS, type Protocol } from '../protocol.ts';
import { mean, median } from '../statistics.ts';
import { assign, type Choices, choicesOf, nearestUniform, originSlack, SLACK_SHARE } from './assign.ts';
import { isDecided, ORIGIN_MODEL_SPREAD, PAGE_MODEL_SPREAD, probabilityOfLeast } from './confidence.ts';
import { LoadTimes } from './load-times.ts';
import { originReason, pageReasons } from './reasons.ts';
import { drawScenarios, type Scenario } from './scenarios.ts';
import { runUniform, type UniformRun, uniformAssignment } from './uniform.ts';

/** What is best for a page on a network. */
export interface Choice {
  /** Each protocol that the network carries, fastest first. */
  uniform: UniformRun[];
  /** Best uniform choice with its lead over the runner-up. */
  best: Protocol;
  margin: number;
  confidence: number;
  decided: boolean;
  reasons: string[];
  assignment: Assignment;
  assignedPltMs: number;
  origins: OriginRecommendation[];
  scenarios: Scenario[];
}

/** Scenarios for searching and for single origins, which compare far more loads than the page does: fewer for a large page. */
const SEARCH_SCENARIOS = 4;
const SEARCH_ACTIVITIES = 1_200;

/**
 * Compares the protocols over scenarios and finds the best joint assignment.
 *
 * A uniform protocol is a what-if: it is applied to every origin, whether it offers it or not. The
 * assignment only uses what an origin offers and the network carries.
 *
 * @param seeds scenarios to compare over; one is enough where nothing is uncertain or random
 */
export function choose(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  sources: Record<NetworkFigure, FigureSource>,
  seeds: number,
): Choice {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked');
  const scenarios = drawScenarios(path, sources, seeds);
  const uniform = usable
    .map((protocol) => runUniform(graph, servers, protocol, scenarios))
    .sort((a, b) => median(a.pltMs) - median(b.pltMs));
  const [best, runnerUp] = uniform as [UniformRun, UniformRun];
  const bestMs = median(best.pltMs);
  const runnerUpMs = median(runnerUp.pltMs);
  const rivals = uniform.slice(1).map(({ pltMs }) => pltMs);
  const confidence = probabilityOfLeast(best.pltMs, rivals, PAGE_MODEL_SPREAD);
  const decided = isDecided(bestMs, runnerUpMs, confidence);

  const times = new LoadTimes(graph, servers);
  for (const { protocol, pltMs } of uniform) times.note(uniformAssignment(graph, protocol), scenarios, pltMs);
  const choices = choicesOf(graph, servers, usable);
  const affordable = Math.max(1, Math.floor(SEARCH_ACTIVITIES / graph.activities.length));
  const search = scenarios.slice(0, Math.min(SEARCH_SCENARIOS, affordable));
  const starts = [best, runnerUp].map(({ protocol }) => nearestUniform(choices, protocol));
  const found = assign(graph, servers, choices, search, starts, times);
  const { assignment, assignedPltMs } = bestOf([...starts, found], times, scenarios);
  return {
    uniform,
    best: best.protocol,
    margin: (runnerUpMs - bestMs) / runnerUpMs,
    confidence,
    decided,
    reasons: pageReasons(best, runnerUp, path, decided, confidence),
    assignment,
    assignedPltMs,
    origins: recommendOrigins(graph, path, servers, choices, assignment, search, uniform, times),
    scenarios,
  };
}

/** The best of some assignments over all scenarios: one found on a few of them may owe its lead to those. */
function bestOf(
  candidates: readonly Assignment[],
  times: LoadTimes,
  scenarios: readonly Scenario[],
): { assignment: Assignment; assignedPltMs: number } {
  const measured = candidates.map((assignment) => ({
    assignment,
    assignedPltMs: median(times.of(assignment, scenarios)),
  }));
  return measured.reduce((best, next) => (next.assignedPltMs < best.assignedPltMs ? next : best));
}

function recommendOrigins(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  choices: Choices,
  assignment: Assignment,
  scenarios: readonly Scenario[],
  uniform: readonly UniformRun[],
  loadTimes: LoadTimes,
): OriginRecommendation[] {
  const slack = originSlack(graph, servers, assignment, scenarios[0]!);
  const sums = originSums(graph);
  const own = loadTimes.of(assignment, scenarios);
  const ownMs = mean(own);
  return graph.origins.map((origin, index): OriginRecommendation => {
    const protocol = assignment[origin]!;
    const timesOf = (candidate: Protocol) => loadTimes.of({ ...assignment, [origin]: candidate }, scenarios);
    // Requests with that much time to spare do not move the page, whatever carries them.
    const idle = slack[index]! >= SLACK_SHARE;
    const offered = choices.get(origin)!;
    const rivals = (idle ? [] : offered)
      .filter((candidate) => candidate !== protocol)
      .map((candidate) => ({ protocol: candidate, times: timesOf(candidate) }))
      .sort((a, b) => mean(a.times) - mean(b.times));
    const rival = rivals[0];
    const rivalMs = rival ? mean(rival.times) : ownMs;
    const times = rivals.map((each) => each.times);
    const confidence = rival ? probabilityOfLeast(own, times, ORIGIN_MODEL_SPREAD) : 1 / offered.length;
    const decided = rival !== undefined && isDecided(ownMs, rivalMs, confidence);
    const { requests, bytes } = sums[index]!;
    const counters = Object.fromEntries(uniform.map((run) => [run.protocol, run.origins.get(origin)]));
    return {
      origin,
      requests,
      bytes,
      protocol,
      confidence,
      pltMs: Object.fromEntries([
        [protocol, ownMs],
        ...rivals.map((each) => [each.protocol, mean(each.times)] as const),
      ]),
      reason: originReason(
        {
          protocol,
          rival: rival?.protocol ?? null,
          only: offered.length === 1,
          gainMs: rivalMs - ownMs,
          pageMs: ownMs,
          decided,
          requests,
          counters,
        },
        path,
      ),
      decided,
    };
  });
}

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
