import type { Action, Decision, LoadTime, Protocol, Recording } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import { browserAssignment } from '../emulate/browser-assignment.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { mayHaveUsedH3, recordedVisit } from '../recording/visit.ts';
import { EventBudget } from '../scenarios/event-budget.ts';
import type { Question } from '../scenarios/question.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { median, quantile } from '../util/statistics.ts';
import { planActions } from './actions.ts';
import { Belief } from './belief.ts';
import { type Candidate, Candidates } from './candidates.ts';
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

/**
 * A load that took more than this many times as long as expected is not understood. On open paths, with and without loss, 4 of 105
 * loads that an extension recorded took more than 1.75 times as long; where UDP was policed and the recording did not show it, most did.
 */
const UNEXPLAINED = 1.75;
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
  const own = browserAssignment(
    graph.origins,
    servers,
    (protocol) => choice.unavailable[protocol] === undefined,
  );
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
  const isFree = Object.keys(knowledge.pinned ?? {}).length === 0;
  const isFirst = isFree && recordedVisit(recording) === 'first';
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
  const isUnverified = isFree && knowledge.verification === undefined && !knowledge.isOtherNetwork;
  const canAct = actions.some(({ kind, needs }) => kind !== 'leave' && !needs.includes('server'));
  const unexplained = isUnverified && canAct ? unexplainedTime(recording, candidates.list[baseline]!) : null;
  const picked = pickAction(actions, belief, candidateOf, knowledge.earlier ?? null);
  // What is not understood is verified first; a policer is an explanation, even where its effect is not emulated exactly.
  const isHasty = unexplained !== null && !picked.action.measured && !isPoliced(choice.scenarios);
  const action = isHasty ? actions.find(({ kind }) => kind === 'leave')! : picked.action;
  const isUnsure = unexplained !== null || actions.some((each) => isNotable(each, comparison));
  return {
    kind: action.kind !== 'leave' ? 'act' : isUnsure ? 'unsure' : 'leave',
    unexplained,
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
    kept: picked.kept && !isHasty,
  };
}

/**
 * The recorded load time where it is far above what the browser's own behaviour was expected to take, in all but a few networks
 * that this may be, and HTTP/3 may be why; else null.
 */
function unexplainedTime(recording: Recording, { logTimes }: Candidate): Decision['unexplained'] {
  const { pltMs } = recording;
  if (pltMs === null || !mayHaveUsedH3(recording)) return null;
  const expectedMs = Math.exp(median(logTimes));
  const highMs = Math.exp(quantile(logTimes, 0.9)!);
  return pltMs > UNEXPLAINED * expectedMs && pltMs > highMs ? { recordedMs: pltMs, expectedMs } : null;
}

function isPoliced(scenarios: readonly Scenario[]): boolean {
  const policed = scenarios.filter(({ path }) => path.udp.kind === 'policed');
  return policed.length > scenarios.length / 2;
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
