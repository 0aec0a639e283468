import {
  type LoadTime,
  PROTOCOL_NAME,
  type Unavailable,
  type Verification,
  type VerifiedProtocol,
} from '@hopwise/contract';
import {
  fastestProtocols,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  plannedAction,
  plannedBaseline,
  type Recording,
  verifiedUnder,
} from '@hopwise/pageload-emulator';
import { plural, t } from '../language/translate.ts';

/** Times of real loads or transfers under one protocol, or why there are none. */
export type Observed = { medianMs: number; lowMs: number; highMs: number; runs: number } | Unavailable;

/** A prediction with the times of real transfers (verified) and of real page loads (measured). */
export interface TimesComparison {
  prediction: Prediction;
  verified?: Partial<Record<ComparisonRow, Observed>> | undefined;
  measured?: Partial<Record<Protocol, Observed>> | undefined;
  /** Real loads by the browser's own choice of protocols; a row of their own. */
  baseline?: Observed | undefined;
  /** Real loads under the action that the decision recommends; a row of their own. */
  assigned?: Observed | undefined;
  /** Whether no origin of the page is known to offer HTTP/3; false if not given. */
  isH3Hypothetical?: boolean | undefined;
  /** Why the verification ended before its last round. */
  stopped?: string | undefined;
  /** Number of resources that the verification left out to stay within its byte budget. */
  leftOut?: number | undefined;
}

export type FigureKind = 'predicted' | 'verified' | 'measured';
export const FIGURE_KINDS: readonly FigureKind[] = ['predicted', 'verified', 'measured'];

/**
 * What the browser does by itself, on the visit of the recorded load and on later ones; one protocol for every origin; what
 * hopwise recommends.
 */
export type ComparisonRow = 'baseline' | 'later' | Protocol | 'assigned';

/** Names a row. @param comparison in which HTTP/3 may be hypothetical */
export function nameRow(
  row: ComparisonRow,
  { isH3Hypothetical = false }: Pick<TimesComparison, 'isH3Hypothetical'> = {},
): string {
  if (row === 'h3' && isH3Hypothetical) return t('rowHypothetical', { protocol: PROTOCOL_NAME.h3 });
  switch (row) {
    case 'baseline':
      return t('rowBaseline');
    case 'later':
      return t('rowLater');
    case 'assigned':
      return t('rowAssigned');
    default:
      return PROTOCOL_NAME[row];
  }
}

export function nameKind(kind: FigureKind): string {
  return { predicted: t('kindPredicted'), verified: t('kindVerified'), measured: t('kindMeasured') }[kind];
}

/** A row's time of one kind. */
export interface ComparisonFigure {
  row: ComparisonRow;
  kind: FigureKind;
  medianMs: number;
  lowMs: number;
  highMs: number;
  /** Number of loads or rounds; absent for predictions. */
  runs?: number;
}

/** A row that has no time of one kind, and the reason. */
export interface MissingTime {
  row: ComparisonRow;
  kind: FigureKind;
  reason: string;
}

/** Later visits have a row of their own when their load time differs by more than this share. */
const APART = 0.01;

/** Rows of a comparison from top to bottom. */
export function listRows({ prediction, verified, assigned }: TimesComparison): ComparisonRow[] {
  const { visit, pltMs, laterPltMs } = prediction.decision.baseline;
  const isLaterApart = visit === 'first' && Math.abs(laterPltMs - pltMs) > APART * pltMs;
  return [
    'baseline',
    ...(isLaterApart ? ['later' as const] : []),
    ...PROTOCOLS,
    ...(assigned || verified?.assigned ? ['assigned' as const] : []),
  ];
}

/** Lists all times of a comparison, in order of row and kind, and the missing ones. */
export function collectFigures(comparison: TimesComparison): {
  figures: ComparisonFigure[];
  missingTimes: MissingTime[];
} {
  const figures: ComparisonFigure[] = [];
  const missingTimes: MissingTime[] = [];
  for (const row of listRows(comparison)) {
    const times = readTimes(comparison, row);
    for (const kind of FIGURE_KINDS) {
      const time = times[kind];
      if (!time) continue;
      if ('unavailable' in time) missingTimes.push({ row, kind, reason: time.unavailable });
      else figures.push({ row, kind, ...time });
    }
  }
  return { figures, missingTimes };
}

/** From this probability on the best protocol is marked, unless another one is about as fast. */
const SURE = 0.8;

/** The row of the protocol that is surely the fastest of several, and on offer; null for none. */
export function findBestRow({ prediction, isH3Hypothetical }: TimesComparison): Protocol | null {
  const { best, confidence, protocols } = prediction.decision;
  if (best === 'h3' && isH3Hypothetical) return null;
  const isOfSeveral = Object.keys(protocols).length > 1;
  return isOfSeveral && confidence >= SURE && fastestProtocols(protocols).length === 1 ? best : null;
}

/** Whether no request of a page went over HTTP/3, no response offered it, and no other load showed the prediction that one would. */
export const isH3Unoffered = ({ requests }: Recording, { decision }: Prediction): boolean =>
  !requests.some(({ protocol, offersH3 }) => protocol === 'h3' || offersH3 === true) &&
  !Object.values(decision.baseline.protocols).includes('h3');

/** Explains why the verified times cover fewer rounds, or fewer resources, than planned; '' when they do not. */
export function describeLimits({ stopped, leftOut = 0 }: TimesComparison): string {
  return [
    stopped ? t('timesStopped', { why: stopped }) : '',
    leftOut > 0 ? plural('timesSkipped', leftOut) : '',
  ]
    .filter(Boolean)
    .join(' ');
}

type Times = Partial<Record<FigureKind, Omit<ComparisonFigure, 'row' | 'kind'> | Unavailable | undefined>>;

/** All predicted times are the decision's, so that they agree with its verdict. */
function readTimes(
  { prediction, verified, measured, baseline, assigned }: TimesComparison,
  row: ComparisonRow,
): Times {
  const { decision } = prediction;
  switch (row) {
    case 'baseline':
      return { predicted: asFigure(decision.baseline), verified: verified?.baseline, measured: baseline };
    case 'later': {
      const ms = decision.baseline.laterPltMs;
      return { predicted: { medianMs: ms, lowMs: ms, highMs: ms } };
    }
    case 'assigned':
      return { predicted: asFigure(decision.action.time), verified: verified?.assigned, measured: assigned };
    default: {
      const time = prediction.protocols[row];
      return {
        predicted: 'unavailable' in time ? time : asFigure(time),
        verified: verified?.[row],
        measured: measured?.[row],
      };
    }
  }
}

const asFigure = ({ pltMs, low, high }: LoadTime) => ({ medianMs: pltMs, lowMs: low, highMs: high });

/**
 * Converts a verification's times to the form that the views take.
 *
 * @param decision names the browser's own choice and the recommended action
 */
export function readVerifiedTimes(
  verification: Verification,
  decision: Prediction['decision'],
): Partial<Record<ComparisonRow, Observed>> {
  const verified: Partial<Record<ComparisonRow, Observed>> = {};
  for (const protocol of PROTOCOLS) {
    const result = verification.protocols[protocol];
    if (result) verified[protocol] = readTimesOf(result);
  }
  const planned = { baseline: plannedBaseline(decision), assigned: plannedAction(decision) };
  for (const row of ['baseline', 'assigned'] as const) {
    const result = planned[row] && verifiedUnder(verification, planned[row]);
    if (result) verified[row] = readTimesOf(result);
    else if (planned[row] && !verification.assignments) verified[row] = { unavailable: t('timeOldHelper') };
  }
  return verified;
}

function readTimesOf({ medianMs, lowMs, highMs, unavailable, rounds }: VerifiedProtocol): Observed {
  return unavailable === '' && medianMs !== null && lowMs !== null && highMs !== null
    ? { medianMs, lowMs, highMs, runs: rounds.length }
    : { unavailable: unavailable || t('timeNoRound') };
}
