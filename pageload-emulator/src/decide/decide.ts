import type { Action, Decision, Protocol } from '@hopwise/contract';
import type { OriginChoice } from '../choose/origin-choice.ts';
import { sumByOrigin } from '../graph/origin-sums.ts';
import { loadTime } from '../scenarios/load-time.ts';
import { AnswerFigures } from './answer-figures.ts';
import { type AssignedFigures, assignedFigures, assignmentOf } from './assigned-figures.ts';
import { confidenceIn, findBest } from './best-protocol.ts';
import type { Candidate } from './candidates.ts';
import { Chances, missedBy } from './chances.ts';
import { canBeVerified, type FitFigures, fitOf } from './fit.ts';
import { isNotable, judgeAction, type Rivals } from './judge-action.ts';
import type { Knowledge } from './knowledge.ts';
import { originFigures } from './origin-figures.ts';
import { limitedTimes, pageBelief } from './page-belief.ts';
import { addCandidates, type Emulation, type PageCandidates } from './page-candidates.ts';
import { pickAction } from './pick-action.ts';
import type { PolicerRisk } from './policer-risk.ts';
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

/**
 * Decides what to do about a page's protocols: compares every action with what the browser does by itself, on emulated loads
 * corrected by what measured loads of other pages, transfers of this page's resources and its own earlier loads showed.
 */
export function decide(emulation: Emulation, knowledge: Knowledge = {}): Decided {
  const { recording, question, network, choice } = emulation;
  const { graph } = question;
  const { scenarios } = choice;
  const sums = sumByOrigin(graph);
  const candidates = addCandidates(emulation, knowledge, sums);
  const { emulated, uniform, baseline, later } = candidates;
  const believed = pageBelief(emulation, knowledge, candidates, sums);
  const { belief, measured, recorded } = believed;
  const undrawn = believed.showsUdp ? NOTHING_UNDRAWN : findUndrawnUdp(network, scenarios);
  const { best, drawnBest, avoidedPolicer } = findBest(emulation, belief, uniform, undrawn);
  const times = limitedTimes(believed, candidates, scenarios);
  const timeOf = (candidate: Candidate) => times.of(candidate);

  const isOtherNetwork = knowledge.isOtherNetwork ?? false;
  const fit = fitOf({ recording, network, scenarios, recorded, isOtherNetwork });
  const baselineTime = timeOf(baseline);
  const laterMs = timeOf(later).pltMs;
  const rivals: Rivals = { belief, baseline, later, baselineTime, laterMs, timeOf, measured, undrawn };
  const isUnderstood = fit.misfits.length === 0 || isOtherNetwork || knowledge.verification !== undefined;
  const picked = pickAmong(candidates.planned, rivals, { isUnderstood, earlier: knowledge.earlier ?? null });
  const { action, actions, kept, isBlocked } = picked;

  const isShown = isUdpShown(undrawn);
  const chances = new Chances(belief, believed.isNew ? 0 : missedBy(fit), isShown);
  const answer = new AnswerFigures(chances, times, (assignment) => emulated.find(assignment));
  const assignment = assignmentOf(choice, drawnBest, answer);
  const { origins, untried } = choice.judgeOrigins(assignment);
  const uniformTimes = {
    emulatedMs: (protocol: Protocol) => choice.times[protocol]!.pltMs,
    answeredMs: (protocol: Protocol) => timeOf(uniform.get(protocol)!).pltMs,
  };
  return {
    figures: {
      kind: kindOf(picked, fit, rivals),
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
      kept,
      isBlocked,
      isHttp: graph.url.startsWith('http:'),
    },
    fit,
    assigned: assignedFigures(choice, assignment, drawnBest, answer),
    origins: origins.map((each) => originFigures(each, assignment, answer, uniformTimes)),
    untriedOrigins: untried,
    avoidedPolicer,
    isUdpShown: isShown,
  };
}

/** An action that was picked among the judged ones. */
interface Picked {
  action: Action;
  /** All that were judged. */
  actions: Action[];
  /** See `DecisionFigures`. */
  kept: boolean;
  isBlocked: boolean;
}

/** Picks among the judged actions; `leave` where the load is not understood, so that it is verified first. */
function pickAmong(
  planned: PageCandidates['planned'],
  rivals: Rivals,
  { isUnderstood, earlier }: { isUnderstood: boolean; earlier: Decision | null },
): Picked {
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

/** `unsure` where nothing is to be done before a verification has shown more. */
function kindOf({ action, actions, isBlocked }: Picked, fit: FitFigures, rivals: Rivals): Decision['kind'] {
  if (action.kind !== 'leave') return 'act';
  const isUnsure = isBlocked
    ? actions.some(({ kind, needs }) => kind !== 'leave' && !needs.includes('server')) && canBeVerified(fit)
    : actions.some((each) => isNotable(each, rivals));
  return isUnsure ? 'unsure' : 'leave';
}
