import type { Verification } from '@hopwise/contract';
import { PROTOCOLS, type Prediction, type Protocol } from '@hopwise/pageload-emulator';
import { PROTOCOL_NAME } from './format.ts';

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
  /** Real loads by the browser's own choice of protocols; a row of their own. */
  baseline?: Measured | undefined;
  /** Real loads under the prediction's assignment; a row of their own. */
  assigned?: Measured | undefined;
  /** Why the verification ended before its last round. */
  stopped?: string | undefined;
  /** Resources that the verification did without to stay within its bytes. */
  leftOut?: number | undefined;
}

export type FigureKind = 'predicted' | 'verified' | 'measured';
export const FIGURE_KINDS: readonly FigureKind[] = ['predicted', 'verified', 'measured'];

/** One protocol for every origin, the browser's own choice, or the protocol for each origin that hopwise chose. */
export type Row = Protocol | 'baseline' | 'assigned';
export const ROW_NAME: Record<Row, string> = {
  baseline: 'Browser’s own choice',
  ...PROTOCOL_NAME,
  assigned: 'hopwise’s assignment',
};

/** A row's time of one kind. */
export interface Figure {
  row: Row;
  kind: FigureKind;
  medianMs: number;
  lowMs: number;
  highMs: number;
}

/** A row without a time of one kind, and why. */
export interface Gap {
  row: Row;
  kind: FigureKind;
  reason: string;
}

/** Rows of a comparison from top to bottom. */
export function rowsOf({ baseline, assigned }: Comparison): Row[] {
  return [
    ...(baseline ? ['baseline' as const] : []),
    ...PROTOCOLS,
    ...(assigned ? ['assigned' as const] : []),
  ];
}

/** All times of a comparison, in order of row and kind, and what is missing. */
export function figuresOf(comparison: Comparison): { figures: Figure[]; gaps: Gap[] } {
  const figures: Figure[] = [];
  const gaps: Gap[] = [];
  for (const row of rowsOf(comparison)) {
    const times = timesOf(comparison, row);
    for (const kind of FIGURE_KINDS) {
      const time = times[kind];
      if (!time) continue;
      if ('unavailable' in time) gaps.push({ row, kind, reason: time.unavailable });
      else figures.push({ row, kind, medianMs: time.medianMs, lowMs: time.lowMs, highMs: time.highMs });
    }
  }
  return { figures, gaps };
}

function timesOf(
  { prediction, verified, measured, baseline, assigned }: Comparison,
  row: Row,
): Partial<Record<FigureKind, Observed | undefined>> {
  if (row === 'baseline') return { measured: baseline };
  const predicted = row === 'assigned' ? prediction.assigned : prediction.protocols[row];
  return {
    predicted:
      'unavailable' in predicted
        ? predicted
        : { medianMs: predicted.pltMs, lowMs: predicted.low, highMs: predicted.high },
    ...(row === 'assigned'
      ? { measured: assigned }
      : { verified: verified?.[row], measured: measured?.[row] }),
  };
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
