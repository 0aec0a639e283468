import type { Decision, LoadTime, Protocol } from '@hopwise/pageload-emulator';

/** A predictor's result for a page on a network, from one recorded load. */
export interface Guess {
  /** Predicted page load time of each protocol expected to load the page, milliseconds. */
  pltMs: Partial<Record<Protocol, number>>;
  best: Protocol;
  /** Further results of hopwise. */
  stated?: {
    /** Probability that `best` is the fastest. */
    confidence: number;
    /** Whether hopwise would act on it. */
    decided: boolean;
    ranges: Partial<Record<Protocol, LoadTime>>;
  };
  /** What hopwise would do; absent for other predictors. */
  decision?: Decision;
  /** Time from recording to result. */
  elapsedMs: number;
}

/** Protocols that Lantern models. */
export type LanternProtocol = 'h1' | 'h2';

/**
 * All get the recording of one load; `hopwiseGiven`, `lantern` and `econ` are also given the path, `hopwiseUdp` is given what
 * happens to UDP, `hopwiseLearned` earlier loads of other pages on the same network.
 */
export const PREDICTORS = [
  'hopwiseGiven',
  'hopwiseUdp',
  'hopwiseEstimated',
  'hopwiseLearned',
  'lantern',
  'econ',
] as const;
export type Predictor = (typeof PREDICTORS)[number];

export const PREDICTOR_NAMES: Record<Predictor, string> = {
  hopwiseGiven: 'hopwise, network given',
  hopwiseUdp: 'hopwise, one load and UDP known',
  hopwiseEstimated: 'hopwise, one load only',
  hopwiseLearned: 'hopwise, other loads before',
  lantern: 'Lantern, network given',
  econ: 'ECON, network given',
};
