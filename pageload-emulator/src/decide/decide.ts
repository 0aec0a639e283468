import type { Action, Decision, LoadTime, Recording } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { OriginChoice } from '../choose/origin-choice.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import { type OriginSum, sumByOrigin } from '../graph/origin-sums.ts';
import { loadTime } from '../scenarios/load-time.ts';
import type { Question } from '../scenarios/question.ts';
import { AnswerFigures } from './answer-figures.ts';
import { type AssignedFigures, assignedFigures, assignmentOf } from './assigned-figures.ts';
import { Belief } from './belief.ts';
import { confidenceIn, findSafest } from './best-protocol.ts';
import { CandidateTimes } from './candidate-times.ts';
import type { Candidate } from './candidates.ts';
import { Chances, missedBy } from './chances.ts';
import { errorCovariance } from './emulation-error.ts';
import { addEvidence, addExperience, recordedCandidate } from './evidence.ts';
import { canBeVerified, type FitFigures, fitOf } from './fit.ts';
import { GainLimits } from './gain-limits.ts';
import { isNotable, judgeAction, type Rivals } from './judge-action.ts';
import type { Knowledge } from './knowledge.ts';
import { originFigures, type UniformTimes } from './origin-figures.ts';
import { addCandidates, type PageCandidates } from './page-candidates.ts';
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
  const { graph } = question;
  const { scenarios } = choice;
  const sums = sumByOrigin(graph);
  const candidates = addCandidates({ recording, question, choice }, knowledge, sums);
  const { emulated, uniform, baseline, usual, later } = candidates;
  const isOtherNetwork = knowledge.isOtherNetwork ?? false;

  const evidence = {
    recording,
    knowledge,
    origins: graph.origins,
    candidates: emulated.all,
    uniform,
    baseline,
    usual,
  };
  const recorded = candidates.withoutH3 ?? recordedCandidate(evidence);
  const recordedHere = isOtherNetwork ? undefined : recorded;
  const errors = { byteShares: byteShares(sums), recorded: recordedHere };
  const belief = new Belief(
    emulated.all,
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
    candidates: emulated.all,
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
  const isUnderstood = fit.misfits.length === 0 || isOtherNetwork || knowledge.verification !== undefined;
  const picked = pickAmong(candidates.planned, rivals, { isUnderstood, earlier: knowledge.earlier ?? null });
  const { action, actions } = picked;
  const isUnsure = picked.isBlocked
    ? actions.some(({ kind, needs }) => kind !== 'leave' && !needs.includes('server')) && canBeVerified(fit)
    : actions.some((each) => isNotable(each, rivals));
  const answer = new AnswerFigures(chances, times, (assignment) => emulated.find(assignment));
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
      visit: candidates.isFirst ? 'first' : 'later',
      protocols: later.assignment,
      laterPltMs: laterMs,
      emulated: loadTime(baseline.pltMs),
      measured: measured.timeOf(baseline) !== null,
    },
    action,
    actions: [action, ...actions.filter((each) => each !== action).sort((a, b) => b.gainMs - a.gainMs)],
    indifferentOrigins: origins.filter(({ rival, isUntried }) => rival === null && !isUntried).length,
    kept: picked.kept,
    isBlocked: picked.isBlocked,
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

/** Picks among the judged actions; `leave` where the load is not understood, so that it is verified first. */
function pickAmong(
  planned: PageCandidates['planned'],
  rivals: Rivals,
  { isUnderstood, earlier }: { isUnderstood: boolean; earlier: Decision | null },
): { action: Action; actions: Action[]; kept: boolean; isBlocked: boolean } {
  const candidateOf = new Map(
    planned.map(({ plan, candidate }) => [
      judgeAction(plan, plan.kind === 'leave' ? rivals.baseline : candidate, rivals),
      candidate,
    ]),
  );
  const actions = [...candidateOf.keys()];
  const { action, kept } = pickAction(candidateOf, rivals.belief, earlier);
  if (isUnderstood || action.measured) return { action, actions, kept, isBlocked: false };
  const leave = actions.find(({ kind }) => kind === 'leave')!;
  return { action: leave, actions, kept: false, isBlocked: true };
}

/** Share of each origin in the page's bytes. */
function byteShares(sums: ReadonlyMap<string, OriginSum>): Map<string, number> {
  const total = Math.max(
    1,
    [...sums.values()].reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return new Map([...sums].map(([origin, { bytes }]) => [origin, bytes / total]));
}
