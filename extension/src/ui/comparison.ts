import type { Verification } from '@hopwise/contract';
import { PROTOCOLS, type Prediction, type Protocol } from '@hopwise/pageload-emulator';

/** Times of real loads or transfers under one protocol, or why there are none. */
export type Observed = { medianMs: number; lowMs: number; highMs: number } | { unavailable: string };

export type Measured =
  | { medianMs: number; lowMs: number; highMs: number; loads: number }
  | { unavailable: string };

/** A prediction beside what real transfers and real loads took. */
export interface Comparison {
  prediction: Prediction;
  verified?: Partial<Record<Protocol, Observed>> | undefined;
  measured?: Partial<Record<Protocol, Measured>> | undefined;
  /** Why the verification ended before its last round. */
  stopped?: string | undefined;
  /** Resources that the verification did without to stay within its bytes. */
  leftOut?: number | undefined;
}

export type FigureKind = 'predicted' | 'verified' | 'measured';
export const FIGURE_KINDS: readonly FigureKind[] = ['predicted', 'verified', 'measured'];

/** One protocol's time of one kind. */
export interface Figure {
  protocol: Protocol;
  kind: FigureKind;
  medianMs: number;
  lowMs: number;
  highMs: number;
}

/** A protocol without a time of one kind, and why. */
export interface Gap {
  protocol: Protocol;
  kind: FigureKind;
  reason: string;
}

/** All times of a comparison, in order of protocol and kind, and what is missing. */
export function figuresOf({ prediction, verified, measured }: Comparison): {
  figures: Figure[];
  gaps: Gap[];
} {
  const figures: Figure[] = [];
  const gaps: Gap[] = [];
  for (const protocol of PROTOCOLS) {
    const predicted = prediction.protocols[protocol];
    const times: [FigureKind, Observed | undefined][] = [
      [
        'predicted',
        'unavailable' in predicted
          ? predicted
          : { medianMs: predicted.pltMs, lowMs: predicted.low, highMs: predicted.high },
      ],
      ['verified', verified?.[protocol]],
      ['measured', measured?.[protocol]],
    ];
    for (const [kind, time] of times) {
      if (!time) continue;
      if ('unavailable' in time) gaps.push({ protocol, kind, reason: time.unavailable });
      else {
        figures.push({ protocol, kind, medianMs: time.medianMs, lowMs: time.lowMs, highMs: time.highMs });
      }
    }
  }
  return { figures, gaps };
}

/** A verification's times in the form of the views. */
export function verifiedOf(verification: Verification): Partial<Record<Protocol, Observed>> {
  const verified: Partial<Record<Protocol, Observed>> = {};
  for (const protocol of PROTOCOLS) {
    const result = verification.protocols[protocol];
    if (!result) continue;
    const { medianMs, lowMs, highMs, unavailable } = result;
    verified[protocol] =
      unavailable === '' && medianMs !== null && lowMs !== null && highMs !== null
        ? { medianMs, lowMs, highMs }
        : { unavailable: unavailable || 'no round was completed' };
  }
  return verified;
}
