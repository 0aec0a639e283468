import type { LoadTime, Protocol } from '@hopwise/pageload-emulator';

/** What a predictor says of a page on a network, from one recorded load. */
export interface Guess {
  /** Predicted page load time of each protocol that is thought to carry the page, milliseconds. */
  pltMs: Partial<Record<Protocol, number>>;
  best: Protocol;
  /** What hopwise says besides. */
  stated?: {
    /** Probability that `best` is the fastest. */
    confidence: number;
    /** Whether it would act on it. */
    decided: boolean;
    ranges: Partial<Record<Protocol, LoadTime>>;
  };
  /** What it took, from recording to answer. */
  elapsedMs: number;
}

/** Those that Lantern knows. */
export type LanternProtocol = 'h1' | 'h2';

/**
 * All are told what a recording of one load tells; `hopwiseGiven` and `lantern` are told the path besides, `hopwiseLearnt` what loads of
 * other pages on the same network told before.
 */
export const PREDICTORS = ['hopwiseGiven', 'hopwiseEstimated', 'hopwiseLearnt', 'lantern'] as const;
export type Predictor = (typeof PREDICTORS)[number];

export const PREDICTOR_NAMES: Record<Predictor, string> = {
  hopwiseGiven: 'hopwise, network given',
  hopwiseEstimated: 'hopwise, one load only',
  hopwiseLearnt: 'hopwise, other loads before',
  lantern: 'Lantern, network given',
};
