import { EVERY_ORIGIN, type PinKind, type Recording } from '@hopwise/contract';
import { type EveryOrigin, findPort } from './every-origin.ts';

/** A time in which an origin's requests went through the helper's proxy. */
export interface PinPeriod {
  origin: string;
  kind: PinKind;
  /** Whether the user has allowed the helper to connect to an address that is not public. */
  allowsLocal: boolean;
  /** What a pin of `EVERY_ORIGIN` covers now, or covered in the end. */
  everyOrigin?: EveryOrigin;
  /** Milliseconds since 1970; the end is null while it lasts. */
  sinceMs: number;
  endedMs: number | null;
}

/** The periods that hold for an origin: those of its own pins, and otherwise of pins of every origin. */
export function findPeriodsOf(origin: string, periods: readonly PinPeriod[]): PinPeriod[] {
  const own = periods.filter((period) => period.origin === origin);
  if (own.length > 0) return own;
  return periods.filter(
    (period) =>
      period.origin === EVERY_ORIGIN && period.everyOrigin && findPort(`${origin}/`, period.everyOrigin) > 0,
  );
}

/** Whether a moment, milliseconds since 1970, lies in a period. */
export function isWithin(atMs: number, { sinceMs, endedMs }: PinPeriod): boolean {
  return sinceMs <= atMs && (endedMs === null || atMs < endedMs);
}

/** When a load began and when its last request ended, milliseconds since 1970. */
export function durationOf({ recordedAt, pltMs, requests }: Recording): { beganMs: number; endedMs: number } {
  const beganMs = Date.parse(recordedAt);
  const lastsMs = requests.reduce((last, { endMs }) => Math.max(last, endMs), pltMs ?? 0);
  return { beganMs, endedMs: beganMs + lastsMs };
}

/** The periods that have a part in common with a load. */
export function findPeriodsDuring(recording: Recording, periods: readonly PinPeriod[]): PinPeriod[] {
  if (periods.length === 0) return [];
  const load = durationOf(recording);
  return periods.filter(
    ({ sinceMs, endedMs }) => sinceMs <= load.endedMs && (endedMs === null || endedMs > load.beganMs),
  );
}
