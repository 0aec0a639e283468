import { median, PROTOCOLS, type Protocol, type Recording } from '@hopwise/contract';
import { nearestUniform } from '../choose/choices.ts';
import type { Choice } from '../choose/choose.ts';
import { browserAssignment } from '../emulate/browser-assignment.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import type { OriginSum } from '../graph/origin-sums.ts';
import { assignmentByBytes, carriedAssignment, hasH3Answer, recordedVisit } from '../recording/visit.ts';
import type { Question } from '../scenarios/question.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { type PlannedAction, planActions } from './actions.ts';
import { type Candidate, Candidates } from './candidates.ts';
import type { Knowledge } from './knowledge.ts';

/** A recorded page with its emulated loads. */
export interface Emulation {
  recording: Recording;
  question: Question;
  network: NetworkPosterior;
  choice: Choice;
}

/** What a decision compares. */
export interface PageCandidates {
  /** All of the below, each once. */
  emulated: Candidates;
  /** Each protocol for every origin. */
  uniform: ReadonlyMap<Protocol, Candidate>;
  /** Whether the page is loaded for the first time, so that the browser may change to HTTP/3 during the load. */
  isFirst: boolean;
  /** The browser's own behaviour in the recorded load. */
  baseline: Candidate;
  /** The same as browsers usually behave: they change to HTTP/3 at another time than this one may have. */
  usual: Candidate;
  /** The browser's own behaviour on visits after the first. */
  later: Candidate;
  /** What carried the page where the browser left HTTP/3 unused in the recorded load. */
  withoutH3: Candidate | undefined;
  /** The load that each action leads to. */
  planned: { plan: PlannedAction; candidate: Candidate }[];
}

/** Emulates every load that a decision compares. @param sums by origin */
export function addCandidates(
  { recording, question, choice }: Emulation,
  knowledge: Knowledge,
  sums: ReadonlyMap<string, OriginSum>,
): PageCandidates {
  const { graph, servers } = question;
  const { joint } = choice;
  const isUsable = (protocol: Protocol) => choice.unavailable[protocol] === undefined;
  const natural = browserAssignment(graph.origins, servers, isUsable);
  const emulated = new Candidates(graph, choice.scenarios, choice.loadTimes);
  const uniform = new Map(
    choice.uniform.map(({ protocol }) => [protocol, emulated.add(uniformAssignment(graph, protocol))]),
  );
  const later = emulated.add(natural);
  const isFree = Object.keys(knowledge.pinned ?? {}).length === 0;
  const isFirst = isFree && recordedVisit(recording) === 'first';
  const usual = isFirst ? emulated.add(natural, true) : later;
  const hasChanged = isFirst && !knowledge.isOtherNetwork && hasH3Answer(recording);
  const changed = hasChanged ? [emulated.add(assignmentByBytes(recording, natural))] : [];
  const carried = isFree && !hasOwnLoads(knowledge) ? carriedAssignment(recording, natural) : null;
  const withoutH3 = carried === null ? undefined : emulated.add(carried);
  const plans = planActions({
    graph,
    servers,
    usable: PROTOCOLS.filter(isUsable),
    baseline: natural,
    joint: joint.assigned.decided ? joint.assignment : null,
    bytesOf: (origin) => sums.get(origin)!.bytes,
  });
  const planned = plans.map((plan) => ({ plan, candidate: emulated.add(plan.assignment) }));
  emulated.add(joint.assignment);
  for (const { protocol } of choice.uniform) emulated.add(nearestUniform(choice.choices, protocol));
  const baseline = findClosest(recording.pltMs, [usual, ...changed]);
  return { emulated, uniform, isFirst, baseline, usual, later, withoutH3, planned };
}

/** Whether loads by the browser itself were measured: the recorded one is one of them. */
const hasOwnLoads = ({ loads }: Knowledge): boolean =>
  loads?.some(({ under, pltMs }) => under === 'browser' && pltMs.length > 0) ?? false;

/** Finds the candidate whose emulated time is the closest to a recorded one; the first where none was recorded. */
function findClosest(recordedMs: number | null, candidates: readonly Candidate[]): Candidate {
  if (recordedMs === null || recordedMs <= 0) return candidates[0]!;
  const distanceOf = ({ pltMs }: Candidate) => Math.abs(Math.log(median(pltMs) / recordedMs));
  return candidates.reduce((a, b) => (distanceOf(b) < distanceOf(a) ? b : a));
}
