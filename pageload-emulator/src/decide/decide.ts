import { type Decision, type LoadTime, median, type Protocol, type Recording } from '@hopwise/contract';
import { nearestUniform } from '../choose/choices.ts';
import type { Choice } from '../choose/choose.ts';
import type { OriginChoice } from '../choose/origin-choice.ts';
import { browserAssignment } from '../emulate/browser-assignment.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import { sumByOrigin } from '../graph/origin-sums.ts';
import { assignmentByBytes, carriedAssignment, hasH3Answer, recordedVisit } from '../recording/visit.ts';
import { loadTime } from '../scenarios/load-time.ts';
import type { Question } from '../scenarios/question.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { planActions } from './actions.ts';
import { AnswerFigures } from './answer-figures.ts';
import { type AssignedFigures, assignedFigures, assignmentOf } from './assigned-figures.ts';
import { Belief } from './belief.ts';
import { CandidateTimes } from './candidate-times.ts';
import { type Candidate, Candidates } from './candidates.ts';
import { Chances, missedBy } from './chances.ts';
import { errorCovariance } from './emulation-error.ts';
import { addEvidence, addExperience, recordedCandidate } from './evidence.ts';
import { canBeVerified, type FitFigures, fitOf } from './fit.ts';
import { GainLimits } from './gain-limits.ts';
import { isNotable, judgeAction, type Rivals } from './judge-action.ts';
import type { Knowledge } from './knowledge.ts';
import { originFigures, type UniformTimes } from './origin-figures.ts';
import { pickAction } from './pick-action.ts';
import { assessPolicer, type PolicerRisk } from './policer-risk.ts';
import { sharedTimes } from './shared-time.ts';
import { findUndrawnUdp, isUdpShown, NOTHING_UNDRAWN } from './undrawn-udp.ts';

/** The numbers of a decision; `explain/verdict.ts` puts them into words. */
export type DecisionFigures = Omit<Decision, 'verdict' | 'evidence' | 'changed'> & {
  /** Whether the earlier decision was kept although another action is now slightly ahead. */
  kept: boolean;
  /** Whether the recorded load is not understood, so that nothing is recommended before it is verified. */
  isBlocked: boolean;
  /** Whether the page comes over http, which HTTP/2 and HTTP/3 do not carry. */
  isHttp: boolean;
};

/** A decision with the other figures of the answer, which rest on the same belief. */
export interface Decided {
  figures: DecisionFigures;
  fit: FitFigures;
  assigned: AssignedFigures;
  /** In order of `PageGraph.origins`. */
  origins: OriginChoice[];
  /** Origins for which no other protocol was tried, as emulating the page takes long. */
  untriedOrigins: number;
  /** The possible policer because of which HTTP/3, otherwise the best protocol, is not; null where there is none. */
  avoidedPolicer: PolicerRisk | null;
  /** Whether anything has shown what happens to UDP. */
  isUdpShown: boolean;
}

/** A recorded page with its emulated loads. */
export interface Emulation {
  recording: Recording;
  question: Question;
  network: NetworkPosterior;
  choice: Choice;
}

/**
 * Decides what to do about a page's protocols: compares every action with what the browser does by itself, on emulated loads
 * corrected by what measured loads of other pages, transfers of this page's resources and its own earlier loads showed.
 */
export function decide(
  { recording, question, network, choice }: Emulation,
  knowledge: Knowledge = {},
): Decided {
  const { graph, servers } = question;
  const { joint, scenarios } = choice;
  const sums = sumByOrigin(graph);
  const natural = browserAssignment(
    graph.origins,
    servers,
    (protocol) => choice.unavailable[protocol] === undefined,
  );
  const plans = planActions({
    graph,
    servers,
    baseline: natural,
    joint: joint.assigned.decided ? joint.assignment : null,
    bytesOf: (origin) => sums.get(origin)!.bytes,
  });

  const candidates = new Candidates(graph, scenarios, choice.loadTimes);
  const uniform = new Map(
    choice.uniform.map(({ protocol }) => [protocol, candidates.add(uniformAssignment(graph, protocol))]),
  );
  const later = candidates.add(natural);
  const isFree = Object.keys(knowledge.pinned ?? {}).length === 0;
  const isFirst = isFree && recordedVisit(recording) === 'first';
  const usual = isFirst ? candidates.add(natural, true) : later;
  const isOtherNetwork = knowledge.isOtherNetwork ?? false;
  const hasChanged = isFirst && !isOtherNetwork && hasH3Answer(recording);
  const changed = hasChanged ? [candidates.add(assignmentByBytes(recording, natural))] : [];
  const baseline = findClosest(recording.pltMs, [usual, ...changed]);
  // Where loads by the browser itself were measured, the recorded one is one of them.
  const hasOwnLoads = knowledge.loads?.some(({ under, pltMs }) => under === 'browser' && pltMs.length > 0);
  const carried = isFree && !hasOwnLoads ? carriedAssignment(recording, natural) : null;
  const withoutH3 = carried === null ? undefined : candidates.add(carried);
  const planned = plans.map((plan) => ({ plan, candidate: candidates.add(plan.assignment) }));
  candidates.add(joint.assignment);
  for (const { protocol } of choice.uniform) candidates.add(nearestUniform(choice.choices, protocol));

  const evidence = {
    recording,
    knowledge,
    origins: graph.origins,
    candidates: candidates.all,
    uniform,
    baseline,
    usual,
  };
  const recorded = withoutH3 ?? recordedCandidate(evidence);
  const recordedHere = isOtherNetwork ? undefined : recorded;
  const errors = { byteShares: byteShares(sums), recorded: recordedHere };
  const belief = new Belief(
    candidates.all,
    ({ pltMs }) => pltMs,
    sharedTimes(graph, scenarios),
    (a, b) => errorCovariance(a, b, errors),
  );
  addExperience(belief, scenarios, uniform);
  const { measured, transferGainMs, isNew, showsUdp } = addEvidence(belief, evidence, recorded);
  const undrawn = showsUdp ? NOTHING_UNDRAWN : findUndrawnUdp(network, scenarios);
  const isShown = isUdpShown(undrawn);
  const drawnBest = findSafest(belief, uniform);
  const risk = drawnBest === 'h3' ? assessPolicer(graph, choice, network, undrawn.policed) : null;
  const best = risk === null ? drawnBest : findSafest(belief, uniform, risk);
  const limits = new GainLimits({
    baseline,
    scenarios,
    measured,
    transferGainMs,
    learned: isNew ? belief : null,
  });
  belief.limitGains(baseline, recordedHere, (candidate, scenario) => limits.in(scenario, candidate));
  const times = new CandidateTimes({
    belief,
    candidates: candidates.all,
    baseline,
    recorded: recordedHere,
    measured,
    limits,
  });

  const timeOf = (candidate: Candidate): LoadTime => times.of(candidate);
  const baselineTime = timeOf(baseline);
  const laterMs = timeOf(later).pltMs;
  const fit = fitOf({ recording, network, scenarios, recorded, isOtherNetwork });
  const chances = new Chances(belief, isNew ? 0 : missedBy(fit), isShown);
  const rivals: Rivals = {
    belief,
    baseline,
    later,
    baselineTime,
    laterMs,
    timeOf,
    measured,
    undrawn,
  };
  const candidateOf = new Map(
    planned.map(({ plan, candidate }) => [
      judgeAction(plan, plan.kind === 'leave' ? baseline : candidate, rivals),
      candidate,
    ]),
  );
  const actions = [...candidateOf.keys()];
  const picked = pickAction(candidateOf, belief, knowledge.earlier ?? null);
  // What is not understood is verified first.
  const isVerified = knowledge.verification !== undefined || picked.action.measured || isOtherNetwork;
  const isBlocked = fit.misfits.length > 0 && !isVerified;
  const action = isBlocked ? actions.find(({ kind }) => kind === 'leave')! : picked.action;
  const canAct = actions.some(({ kind, needs }) => kind !== 'leave' && !needs.includes('server'));
  const isUnsure = isBlocked ? canAct && canBeVerified(fit) : actions.some((each) => isNotable(each, rivals));
  const answer = new AnswerFigures(chances, times, (assignment) => candidates.find(assignment));
  const assignment = assignmentOf(choice, drawnBest, answer);
  const { origins, untried } = choice.judgeOrigins(assignment);
  const uniformTimes: UniformTimes = {
    emulatedMs: (protocol) => choice.times[protocol]!.pltMs,
    answeredMs: (protocol) => timeOf(uniform.get(protocol)!).pltMs,
  };
  const figures: DecisionFigures = {
    kind: action.kind !== 'leave' ? 'act' : isUnsure ? 'unsure' : 'leave',
    best,
    confidence: confidenceIn(best, chances, uniform),
    protocols: Object.fromEntries([...uniform].map(([protocol, each]) => [protocol, timeOf(each)])),
    baseline: {
      ...baselineTime,
      visit: isFirst ? 'first' : 'later',
      protocols: natural,
      laterPltMs: laterMs,
      emulated: loadTime(baseline.pltMs),
      measured: measured.timeOf(baseline) !== null,
    },
    action,
    actions: [action, ...actions.filter((each) => each !== action).sort((a, b) => b.gainMs - a.gainMs)],
    indifferentOrigins: origins.filter(({ rival, isUntried }) => rival === null && !isUntried).length,
    kept: picked.kept && !isBlocked,
    isBlocked,
    isHttp: graph.url.startsWith('http:'),
  };
  return {
    figures,
    fit,
    assigned: assignedFigures(choice, assignment, drawnBest, answer),
    origins: origins.map((each) => originFigures(each, assignment, answer, uniformTimes)),
    untriedOrigins: untried,
    avoidedPolicer: best === drawnBest ? null : risk,
    isUdpShown: isShown,
  };
}

/** Finds the candidate whose emulated time is the closest to a recorded one; the first where none was recorded. */
function findClosest(recordedMs: number | null, candidates: readonly Candidate[]): Candidate {
  if (recordedMs === null || recordedMs <= 0) return candidates[0]!;
  const distanceOf = ({ pltMs }: Candidate) => Math.abs(Math.log(median(pltMs) / recordedMs));
  return candidates.reduce((a, b) => (distanceOf(b) < distanceOf(a) ? b : a));
}

/** Finds the protocol of the smallest expected regret. @param risk a policer that the belief's scenarios do not have */
function findSafest(
  belief: Belief<Candidate>,
  uniform: ReadonlyMap<Protocol, Candidate>,
  risk: PolicerRisk | null = null,
): Protocol {
  const regrets = [...uniform].map(([protocol, own]) => {
    const drawn = belief.regret(own, [...uniform.values()]);
    if (risk === null) return { protocol, regret: drawn };
    const policed = protocol === 'h3' ? risk.timesAsLong - 1 : belief.regret(own, listTcp(uniform));
    return { protocol, regret: (1 - risk.probability) * drawn + risk.probability * policed };
  });
  return regrets.reduce((least, one) => (one.regret < least.regret ? one : least)).protocol;
}

const listTcp = (uniform: ReadonlyMap<Protocol, Candidate>): Candidate[] =>
  [...uniform].flatMap(([protocol, candidate]) => (protocol === 'h3' ? [] : [candidate]));

/** Probability that a protocol is faster than each other one, the least of these. */
function confidenceIn(best: Protocol, chances: Chances, uniform: ReadonlyMap<Protocol, Candidate>): number {
  const own = uniform.get(best)!;
  const rivals = [...uniform.values()].filter((each) => each !== own);
  return Math.min(1, ...rivals.map((each) => chances.below(own, each)));
}

/** Share of each origin in the page's bytes. */
function byteShares(sums: ReadonlyMap<string, { bytes: number }>): Map<string, number> {
  const total = Math.max(
    1,
    [...sums.values()].reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return new Map([...sums].map(([origin, { bytes }]) => [origin, bytes / total]));
}
