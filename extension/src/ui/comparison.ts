import { PROTOCOL_NAME, type Verification } from '@hopwise/contract';
import { PROTOCOLS, type Prediction, type Protocol } from '@hopwise/pageload-emulator';

/** Times of real loads or transfers under one protocol, or why there are none. */
export type Observed = { medianMs: number; lowMs: number; highMs: number } | { unavailable: string };

export type Measured =
  | { medianMs: number; lowMs: number; highMs: number; loads: number }
  | { unavailable: string };

/** A prediction with the times of real transfers (verified) and of real page loads (measured). */
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
  /** Number of resources that the verification left out to stay within its byte budget. */
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

/** A row that has no time of one kind, and the reason. */
export interface MissingTime {
  row: Row;
  kind: FigureKind;
  reason: string;
}

/** Rows of a comparison from top to bottom. */
export function listRows({ baseline, assigned }: Comparison): Row[] {
  return [
    ...(baseline ? ['baseline' as const] : []),
    ...PROTOCOLS,
    ...(assigned ? ['assigned' as const] : []),
  ];
}

/** Lists all times of a comparison, in order of row and kind, and the missing ones. */
export function collectFigures(comparison: Comparison): { figures: Figure[]; missingTimes: MissingTime[] } {
  const figures: Figure[] = [];
  const missingTimes: MissingTime[] = [];
  for (const row of listRows(comparison)) {
    const times = readTimes(comparison, row);
    for (const kind of FIGURE_KINDS) {
      const time = times[kind];
      if (!time) continue;
      if ('unavailable' in time) missingTimes.push({ row, kind, reason: time.unavailable });
      else figures.push({ row, kind, medianMs: time.medianMs, lowMs: time.lowMs, highMs: time.highMs });
    }
  }
  return { figures, missingTimes };
}

function readTimes(
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

/** Converts a verification's times to the form that the views take. */
export function readVerifiedTimes(verification: Verification): Partial<Record<Protocol, Observed>> {
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
