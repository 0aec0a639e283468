import type { OriginSum } from '../graph/origin-sums.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { Belief } from './belief.ts';
import { CandidateTimes } from './candidate-times.ts';
import type { Candidate } from './candidates.ts';
import { errorCovariance } from './emulation-error.ts';
import { addEvidence, addExperience, recordedCandidate, type SeenEvidence } from './evidence.ts';
import { GainLimits } from './gain-limits.ts';
import type { Knowledge } from './knowledge.ts';
import type { Emulation, PageCandidates } from './page-candidates.ts';
import { sharedTimes } from './shared-time.ts';

/** What is believed of a page's load times, and the evidence that it rests on. */
interface PageBelief extends SeenEvidence {
  belief: Belief<Candidate>;
  /** The candidate like which the page was recorded; undefined where none is like it. */
  recorded: Candidate | undefined;
  /** The same, and undefined too where it was recorded on another network than the one asked about. */
  recordedHere: Candidate | undefined;
}

/**
 * Forms the belief about a page's candidates: their emulated loads, corrected by what measured loads of other pages, transfers of this page's
 * resources and its own earlier loads showed.
 *
 * @param sums by origin
 */
export function pageBelief(
  { recording, question, choice }: Emulation,
  knowledge: Knowledge,
  { emulated, uniform, baseline, usual, withoutH3 }: PageCandidates,
  sums: ReadonlyMap<string, OriginSum>,
): PageBelief {
  const { graph } = question;
  const { scenarios } = choice;
  const evidence = {
    recording,
    knowledge,
    origins: graph.origins,
    candidates: emulated.all,
    uniform,
    baseline,
    usual,
  };
  const recorded = withoutH3 ?? recordedCandidate(evidence);
  const recordedHere = knowledge.isOtherNetwork ? undefined : recorded;
  const errors = { byteShares: byteShares(sums), recorded: recordedHere };
  const belief = new Belief(
    emulated.all,
    ({ pltMs }) => pltMs,
    sharedTimes(graph, scenarios),
    (a, b) => errorCovariance(a, b, errors),
  );
  addExperience(belief, scenarios, uniform);
  return { belief, recorded, recordedHere, ...addEvidence(belief, evidence, recorded) };
}

/** Share of each origin in the page's bytes. */
function byteShares(sums: ReadonlyMap<string, OriginSum>): Map<string, number> {
  const total = Math.max(
    1,
    [...sums.values()].reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return new Map([...sums].map(([origin, { bytes }]) => [origin, bytes / total]));
}

/** Limits what candidates gain over the baseline, in the belief too. @returns the load time of every candidate */
export function limitedTimes(
  { belief, recordedHere: recorded, measured, transferGainMs, isNew }: PageBelief,
  { emulated, baseline }: PageCandidates,
  scenarios: readonly Scenario[],
): CandidateTimes {
  const learned = isNew ? belief : null;
  const limits = new GainLimits({ baseline, scenarios, measured, transferGainMs, learned });
  belief.limitGains(baseline, recorded, (candidate, scenario) => limits.in(scenario, candidate));
  return new CandidateTimes({ belief, candidates: emulated.all, baseline, recorded, measured, limits });
}
