import { median } from '@hopwise/contract';
import { loadTime } from '../scenarios/load-time.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Belief } from './belief.ts';
import type { Candidate } from './candidates.ts';
import type { MeasuredTimes } from './measured-loads.ts';

/** What limits the gains of candidates over the baseline. */
interface LimitContext {
  baseline: Candidate;
  scenarios: readonly Scenario[];
  /** The page's own measured loads. */
  measured: MeasuredTimes;
  /** Time that transfers as the candidate requests the page took less than those as the baseline does, milliseconds; null without both. */
  transferGainMs: (candidate: Candidate) => number | null;
  /** The belief, where evidence has changed which scenarios are likely; else null. */
  learned: Belief<Candidate> | null;
}

/**
 * The most that each candidate may be said to gain over the baseline: what the emulation or a measurement gives, whichever is more. The
 * emulation gives what it has both in all scenarios together and on the likeliest network: a gain that depends on what is unknown of the
 * network is none to promise.
 */
export class GainLimits {
  readonly #context: LimitContext;
  readonly #baselineMs: number;
  /** The scenarios of the likeliest network, which is drawn first: all, with losses of their own, where every figure of it is given. */
  readonly #likeliest: readonly number[];

  constructor(context: LimitContext) {
    this.#context = context;
    const { scenarios } = context;
    this.#likeliest = [...scenarios.keys()].filter((index) => scenarios[index]!.path === scenarios[0]!.path);
    this.#baselineMs = loadTime(context.baseline.pltMs).pltMs;
  }

  /** In all scenarios together, milliseconds. */
  of(candidate: Candidate): number {
    const { baseline, learned } = this.#context;
    const emulatedMs = Math.min(
      this.#baselineMs - loadTime(candidate.pltMs).pltMs,
      median(this.#likeliest.map((scenario) => gainIn(scenario, candidate, baseline))),
    );
    const learnedMs = learned?.average((scenario) => gainIn(scenario, candidate, baseline)) ?? 0;
    return Math.max(0, emulatedMs, learnedMs, this.#measuredGain(candidate));
  }

  /** In one scenario, milliseconds. */
  in(scenario: number, candidate: Candidate): number {
    const emulatedMs = gainIn(scenario, candidate, this.#context.baseline);
    return Math.max(0, emulatedMs, this.#measuredGain(candidate));
  }

  #measuredGain(candidate: Candidate): number {
    const { baseline, measured, transferGainMs } = this.#context;
    return Math.max(measured.gainMs(candidate, baseline) ?? 0, transferGainMs(candidate) ?? 0);
  }
}

const gainIn = (scenario: number, candidate: Candidate, baseline: Candidate): number =>
  baseline.pltMs[scenario]! - candidate.pltMs[scenario]!;
