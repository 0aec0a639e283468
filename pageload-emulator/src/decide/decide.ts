import type { Action, Decision, LoadTime, Protocol, Recording } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { recordedVisit } from '../recording/visit.ts';
import { EventBudget } from '../scenarios/event-budget.ts';
import type { Question } from '../scenarios/question.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { planActions } from './actions.ts';
import { Belief } from './belief.ts';
import { browserAssignment, Candidates } from './candidates.ts';
import { errorCovariance } from './emulation-error.ts';
import { addEvidence, addExperience } from './evidence.ts';
import { type Comparison, isNotable, judgeAction } from './judge-action.ts';
import type { Knowledge } from './knowledge.ts';
import { pickAction } from './pick-action.ts';

/** The numbers of a decision; `explain/verdict.ts` puts them into words. */
export type DecisionFigures = Omit<Decision, 'verdict' | 'evidence' | 'changed'> & {
  /** Whether the earlier decision was kept although another action is now slightly ahead. */
  kept: boolean;
};

/** A recorded page with its emulated loads. */
export interface Emulation {
  recording: Recording;
  question: Question;
  choice: Choice;
}

/** Bounds of load times, whose logarithms are compared: an empty page takes no time, and some loads do not end, milliseconds. */
const SHORTEST_MS = 1;
const LONGEST_MS = 120_000;

/**
 * Decides what to do about a page's protocols: compares every action with what the browser does by itself, on emulated loads
 * corrected by what measured loads of other pages, transfers of this page's resources and its own earlier loads showed.
 */
export function decide(
  { recording, question, choice }: Emulation,
  knowledge: Knowledge = {},
): DecisionFigures {
  const { graph, servers } = question;
  const bytes = bytesByOrigin(graph);
  const own = browserAssignment(graph, servers, (protocol) => choice.unavailable[protocol] === undefined);
  const { joint } = choice;
  const plans = planActions({
    graph,
    servers,
    baseline: own,
    joint: joint.assigned.decided ? joint.assignment : null,
    bytes,
  });

  const candidates = new Candidates(graph, choice.scenarios, new EventBudget());
  const uniform = new Map<Protocol, number>();
  for (const { protocol, pltMs } of choice.uniform) {
    uniform.set(protocol, candidates.add(uniformAssignment(graph, protocol), { known: pltMs }));
  }
  const later = candidates.add(own);
  const isFirst = recordedVisit(recording) === 'first' && Object.keys(knowledge.pinned ?? {}).length === 0;
  const baseline = isFirst ? candidates.add(own, { discoversH3: true }) : later;
  const planned = plans.map((plan) => candidates.add(plan.assignment));

  const belief = new Belief(
    choice.scenarios.map((_, scenario) => candidates.list.map(({ logTimes }) => logOf(logTimes[scenario]!))),
    errorCovariance(candidates.list, sharesOf(bytes)),
  );
  addExperience(belief, choice.scenarios, uniform, candidates.list.length);
  const measured = addEvidence(belief, { recording, knowledge, graph, own, candidates, uniform, baseline });

  const timeOf = (candidate: number): LoadTime =>
    measured.timeOf(candidate) ?? {
      pltMs: belief.quantile(candidate, 0.5),
      low: belief.quantile(candidate, 0.1),
      high: belief.quantile(candidate, 0.9),
    };
  const baselineTime = timeOf(baseline);
  const laterMs = timeOf(later).pltMs;
  const comparison: Comparison = { belief, baseline, later, baselineTime, laterMs, timeOf, measured };
  const actions = plans.map((plan, index) =>
    judgeAction(plan, plan.kind === 'leave' ? baseline : planned[index]!, comparison),
  );
  const candidateOf = (action: Action) => planned[actions.indexOf(action)]!;
  const { action, kept } = pickAction(actions, belief, candidateOf, knowledge.earlier ?? null);
  const isUnsure = actions.some((each) => isNotable(each, comparison));
  return {
    kind: action.kind !== 'leave' ? 'act' : isUnsure ? 'unsure' : 'leave',
    ...bestUniform(belief, uniform),
    protocols: Object.fromEntries([...uniform].map(([protocol, index]) => [protocol, timeOf(index)])),
    baseline: {
      ...baselineTime,
      visit: isFirst ? 'first' : 'later',
      protocols: own,
      laterPltMs: laterMs,
      measured: measured.timeOf(baseline) !== null,
    },
    action,
    actions: [action, ...actions.filter((each) => each !== action).sort((a, b) => b.gainMs - a.gainMs)],
    indifferentOrigins: choice.origins.filter(({ rival, isUntried }) => rival === null && !isUntried).length,
    kept,
  };
}

/** The protocol of the smallest expected regret, and the probability that it is faster than each other one. */
function bestUniform(
  belief: Belief,
  uniform: ReadonlyMap<Protocol, number>,
): Pick<Decision, 'best' | 'confidence'> {
  const protocols = [...uniform.keys()];
  const regrets = belief.regrets([...uniform.values()]);
  const best = protocols[regrets.indexOf(Math.min(...regrets))]!;
  const rivals = protocols.filter((each) => each !== best);
  const chances = rivals.map((rival) => belief.probabilityBelow(uniform.get(best)!, uniform.get(rival)!));
  return { best, confidence: Math.min(1, ...chances) };
}

const logOf = (logMs: number): number =>
  Math.min(Math.log(LONGEST_MS), Math.max(Math.log(SHORTEST_MS), logMs));

function bytesByOrigin(graph: PageGraph): Map<string, number> {
  const bytes = new Map(graph.origins.map((origin) => [origin, 0]));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const origin = graph.origins[activity.origin]!;
    bytes.set(origin, bytes.get(origin)! + activity.responseBytes);
  }
  return bytes;
}

function sharesOf(bytes: ReadonlyMap<string, number>): Map<string, number> {
  const total = Math.max(
    1,
    [...bytes.values()].reduce((sum, each) => sum + each, 0),
  );
  return new Map([...bytes].map(([origin, own]) => [origin, own / total]));
}
