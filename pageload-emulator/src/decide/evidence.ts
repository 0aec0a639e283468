import {
  type Assignment,
  type MeasuredLoads,
  type PlannedAssignment,
  PROTOCOLS,
  type Protocol,
  type Recording,
} from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Belief } from './belief.ts';
import type { Candidate, Candidates } from './candidates.ts';
import { experienceOf } from './experience.ts';
import type { Knowledge } from './knowledge.ts';
import { MeasuredTimes } from './measured-loads.ts';
import { loadsObservation, transferObservation, type VerifiedCandidate } from './observations.ts';

/** Corrects each scenario's ratios of the protocols by what loads of other pages showed on such paths. */
export function addExperience(
  belief: Belief,
  scenarios: readonly Scenario[],
  uniform: ReadonlyMap<Protocol, number>,
  count: number,
): void {
  const reference = uniform.get('h2');
  if (reference === undefined) return;
  for (const [scenario, { path }] of scenarios.entries()) {
    const ratios = experienceOf(path);
    for (const protocol of PROTOCOLS) {
      const ratio = ratios[protocol];
      const candidate = uniform.get(protocol);
      if (ratio === undefined || candidate === undefined) continue;
      const coefficients = new Array<number>(count).fill(0);
      coefficients[candidate] = 1;
      coefficients[reference] = -1;
      belief.adjust(scenario, { coefficients, value: ratio.mean, variance: ratio.deviation ** 2 });
    }
  }
}

/** What evidence on a page is matched with. */
export interface EvidenceContext {
  recording: Recording;
  knowledge: Knowledge;
  graph: PageGraph;
  own: Assignment;
  candidates: Candidates;
  /** Candidate of each protocol for every origin. */
  uniform: ReadonlyMap<Protocol, number>;
  /** Candidate of the browser's own behaviour. */
  baseline: number;
}

/**
 * Corrects the belief by transfers and measured loads of the page.
 *
 * @returns the measured loads of the candidates, the recorded one included where it was made on the network asked about
 */
export function addEvidence(belief: Belief, context: EvidenceContext): MeasuredTimes {
  const { recording, knowledge, candidates } = context;
  const count = candidates.list.length;
  addTransfers(belief, context);
  const measured = new MeasuredTimes();
  for (const { under, pltMs, ageMs } of knowledge.loads ?? []) {
    const candidate = candidateUnder(context, under);
    if (candidate >= 0 && pltMs.length > 0) measured.add(candidate, { pltMs, ageMs });
  }
  for (const [candidate, loads] of measured) belief.observe(loadsObservation(loads, candidate, count));
  const pinned = knowledge.pinned ?? {};
  const recorded = candidateUnder(context, Object.keys(pinned).length === 0 ? 'browser' : pinned);
  const isEvidence = recorded >= 0 && !knowledge.isOtherNetwork;
  if (recording.pltMs !== null && recording.pltMs > 0 && isEvidence) {
    const load = { pltMs: [recording.pltMs], ageMs: 0 };
    measured.add(recorded, load);
    // The scenarios were drawn from this recording: their weights must not count it twice.
    const seen = loadsObservation(load, recorded, count);
    for (let scenario = 0; scenario < candidates.list[0]!.logTimes.length; scenario++)
      belief.adjust(scenario, seen);
  }
  return measured;
}

/** @returns the candidate's index; −1 when no candidate is like it */
function candidateUnder(
  { candidates, graph, own, baseline }: EvidenceContext,
  under: MeasuredLoads['under'],
): number {
  if (under === 'browser') return baseline;
  return candidates.list.findIndex(
    ({ assignment, discoversH3 }) =>
      !discoversH3 && graph.origins.every((origin) => assignment[origin] === (under[origin] ?? own[origin])),
  );
}

/** Adds the ratios of other transfers' times to those over HTTP/2, or over HTTP/1.1 where HTTP/2 did not carry the page. */
function addTransfers(belief: Belief, context: EvidenceContext): void {
  const [under, ...others] = verifiedCandidates(context);
  if (under === undefined) return;
  for (const over of others) {
    const seen = transferObservation([over, under], context.candidates.list.length);
    if (seen !== null) belief.observe(seen);
  }
}

/** Candidates with transfers of their own, each once, those of one protocol for every origin first. */
function verifiedCandidates({ knowledge, candidates, uniform, graph }: EvidenceContext): VerifiedCandidate[] {
  const { verification } = knowledge;
  if (verification === undefined) return [];
  const found = (['h2', 'h1', 'h3'] as const).flatMap((protocol): VerifiedCandidate[] => {
    const candidate = uniform.get(protocol);
    const verified = verification.protocols[protocol];
    return candidate === undefined || verified === undefined ? [] : [{ candidate, verified }];
  });
  for (const verified of verification.assignments ?? []) {
    const candidate = candidates.list.findIndex((each) => isTransferred(each, verified, graph.origins));
    if (candidate >= 0 && found.every((other) => other.candidate !== candidate))
      found.push({ candidate, verified });
  }
  return found;
}

/** Whether transfers by an assignment requested each origin as the candidate does; they leave plain http out. */
function isTransferred(
  candidate: Candidate,
  { assignment, discoversH3 }: PlannedAssignment,
  origins: readonly string[],
): boolean {
  return (
    candidate.discoversH3 === discoversH3 &&
    origins.every(
      (origin) => !origin.startsWith('https://') || candidate.assignment[origin] === assignment[origin],
    )
  );
}
