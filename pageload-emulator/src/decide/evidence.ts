import {
  type MeasuredLoads,
  type PlannedAssignment,
  PROTOCOLS,
  type Protocol,
  type Recording,
} from '@hopwise/contract';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Belief } from './belief.ts';
import { type Candidate, usesH3 } from './candidates.ts';
import { experienceOf } from './experience.ts';
import type { Knowledge } from './knowledge.ts';
import { MeasuredTimes } from './measured-loads.ts';
import {
  loadsObservation,
  recordedObservation,
  transferGainMs,
  transferObservation,
  type VerifiedCandidate,
} from './observations.ts';

/** Corrects each scenario's ratios of the protocols' own parts by what loads of other pages showed on such paths. */
export function addExperience(
  belief: Belief<Candidate>,
  scenarios: readonly Scenario[],
  uniform: ReadonlyMap<Protocol, Candidate>,
): void {
  const rival = uniform.get('h2');
  if (rival === undefined) return;
  for (const [scenario, { path }] of scenarios.entries()) {
    const ratios = experienceOf(path);
    for (const protocol of PROTOCOLS) {
      const ratio = ratios[protocol];
      const candidate = uniform.get(protocol);
      if (ratio === undefined || candidate === undefined) continue;
      const { mean: value, deviation } = ratio;
      belief.updateScenario(scenario, { candidate, rival, value, variance: deviation ** 2 });
    }
  }
}

/** What evidence on a page is matched with. */
interface EvidenceContext {
  recording: Recording;
  knowledge: Knowledge;
  origins: readonly string[];
  candidates: readonly Candidate[];
  /** Candidate of each protocol for every origin. */
  uniform: ReadonlyMap<Protocol, Candidate>;
  /** Candidate of the browser's own behaviour. */
  baseline: Candidate;
  /** The same as a verification transfers it: another one on a first visit on which this browser changed to HTTP/3 at another time. */
  usual: Candidate;
}

/** The candidate like which the page was recorded; undefined where none is like it. */
export function recordedCandidate(context: EvidenceContext): Candidate | undefined {
  const pinned = context.knowledge.pinned ?? {};
  return candidateUnder(context, Object.keys(pinned).length === 0 ? 'browser' : pinned);
}

/** What evidence on a page has shown beside its belief. */
export interface SeenEvidence {
  /** Measured loads by candidate, the recorded one included where it was made on the network asked about and compares with them. */
  measured: MeasuredTimes;
  /** Time that transfers as the candidate requests the page took less than those as the baseline does, milliseconds; null without both. */
  transferGainMs: (candidate: Candidate) => number | null;
  /** Whether it changed which scenarios are likely. */
  isNew: boolean;
  /** Whether loads or transfers over HTTP/3 from the start are among it: others show nothing of what happens to UDP. */
  showsUdp: boolean;
}

/** Corrects the belief by transfers and measured loads of the page. */
export function addEvidence(
  belief: Belief<Candidate>,
  context: EvidenceContext,
  recorded: Candidate | undefined,
): SeenEvidence {
  const { recording, knowledge, usual } = context;
  const verified = verifiedCandidates(context);
  addTransfers(belief, verified);
  const measured = new MeasuredTimes();
  for (const { under, ...loads } of knowledge.loads ?? []) {
    const candidate = candidateUnder(context, under);
    if (candidate !== undefined && loads.pltMs.length > 0) measured.add(candidate, loads);
  }
  const seen = [...measured].map(([candidate, loads]) => loadsObservation(candidate, loads));
  const isNew = seen.length > 0 || verified.length > 1;
  const tried = [...[...measured].map(([candidate]) => candidate), ...verified.map((each) => each.candidate)];
  const showsUdp = isNew && tried.some((each) => !each.discoversH3 && usesH3(each));
  const isEvidence = recorded !== undefined && !knowledge.isOtherNetwork;
  if (recording.pltMs !== null && recording.pltMs > 0 && isEvidence) {
    if (knowledge.isRecordedComparable !== false)
      measured.add(recorded, { pltMs: [recording.pltMs], ageMs: 0 });
    seen.push(recordedObservation(recorded, recording.pltMs));
  }
  belief.updateByLoads(seen);
  const under =
    verified.find(({ candidate }) => candidate === usual) ??
    verified.find(({ candidate }) => isSameAssignment(candidate, usual, context.origins));
  return {
    measured,
    transferGainMs(candidate) {
      const over = verified.find((each) => each.candidate === candidate);
      return over === undefined || under === undefined ? null : transferGainMs(over, under);
    },
    isNew,
    showsUdp,
  };
}

const isSameAssignment = (a: Candidate, b: Candidate, origins: readonly string[]): boolean =>
  origins.every((origin) => a.assignment[origin] === b.assignment[origin]);

/** The candidate like which the browser loads the page under pins; undefined for none. */
function candidateUnder(
  { candidates, origins, baseline, usual }: EvidenceContext,
  under: MeasuredLoads['under'],
): Candidate | undefined {
  if (under === 'browser') return baseline;
  return candidates.find(
    ({ assignment, discoversH3 }) =>
      !discoversH3 &&
      origins.every((origin) => assignment[origin] === (under[origin] ?? usual.assignment[origin])),
  );
}

/** Adds the ratios of other transfers' times to those over HTTP/2, or over HTTP/1.1 where HTTP/2 did not carry the page. */
function addTransfers(belief: Belief<Candidate>, verified: readonly VerifiedCandidate[]): void {
  const [under, ...others] = verified;
  if (under === undefined) return;
  for (const over of others) {
    const seen = transferObservation(over, under);
    if (seen !== null) belief.updateAll(seen);
  }
}

/** Candidates with transfers of their own, each once, those of one protocol for every origin first. */
function verifiedCandidates({
  knowledge,
  candidates,
  uniform,
  origins,
}: EvidenceContext): VerifiedCandidate[] {
  const { verification } = knowledge;
  if (verification === undefined) return [];
  const found = (['h2', 'h1', 'h3'] as const).flatMap((protocol): VerifiedCandidate[] => {
    const candidate = uniform.get(protocol);
    const verified = verification.protocols[protocol];
    return candidate === undefined || verified === undefined ? [] : [{ candidate, verified }];
  });
  for (const verified of verification.assignments ?? []) {
    const candidate = candidates.find((each) => isTransferred(each, verified, origins));
    if (candidate !== undefined && found.every((other) => other.candidate !== candidate))
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
