import type { LoadTime } from '@hopwise/contract';
import { moveTo } from '../scenarios/load-time.ts';
import type { Belief } from './belief.ts';
import type { Candidate } from './candidates.ts';
import type { GainLimits } from './gain-limits.ts';
import type { MeasuredTimes } from './measured-loads.ts';
import { LATER_LOAD } from './observations.ts';

/** What the load times of candidates are made from. */
interface TimesContext {
  belief: Belief<Candidate>;
  candidates: readonly Candidate[];
  baseline: Candidate;
  /** The candidate like which the page was recorded on the network asked about; undefined for none. */
  recorded: Candidate | undefined;
  measured: MeasuredTimes;
  limits: GainLimits;
}

/**
 * The load time of every candidate: the one set of figures that an answer shows. A time is the median of measured loads where there are
 * enough, else what is believed; and no candidate gains more over the baseline than was emulated or measured, whichever is more.
 */
export class CandidateTimes {
  readonly #times: ReadonlyMap<Candidate, LoadTime>;

  constructor({ belief, candidates, baseline, recorded, measured, limits }: TimesContext) {
    const times = new Map(
      candidates.map((each) => [each, measured.timeOf(each) ?? believed(belief, each)] as const),
    );
    const isMeasured = (each: Candidate) => measured.timeOf(each) !== null;
    // A baseline that is only predicted gives way to loads of a candidate that were measured, or recorded.
    if (!isMeasured(baseline) && recorded !== baseline) {
      const most = candidates
        .filter((each) => each !== baseline && (isMeasured(each) || each === recorded))
        .map((each) => times.get(each)!.pltMs + limits.of(each));
      const time = times.get(baseline)!;
      times.set(baseline, moveTo(time, Math.min(time.pltMs, ...most)));
    }
    const baselineMs = times.get(baseline)!.pltMs;
    for (const each of candidates) {
      if (each === baseline || isMeasured(each)) continue;
      const time = times.get(each)!;
      times.set(each, moveTo(time, Math.max(time.pltMs, baselineMs - limits.of(each))));
    }
    this.#times = times;
  }

  of(candidate: Candidate): LoadTime {
    return this.#times.get(candidate)!;
  }
}

const believed = (belief: Belief<Candidate>, candidate: Candidate): LoadTime => ({
  pltMs: belief.quantile(candidate, 0.5, LATER_LOAD),
  low: belief.quantile(candidate, 0.1, LATER_LOAD),
  high: belief.quantile(candidate, 0.9, LATER_LOAD),
});
