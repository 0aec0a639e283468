import type { ArrivalCurve } from './arrival-curve.ts';

/** Windows that saw fewer bytes say nothing about a link. */
const MIN_BYTES = 30_000;

/**
 * Highest downstream rate held over a window, bits per second: a lower bound of the link's rate, close
 * to it where the page filled the link.
 *
 * @param windowMs long enough that bytes freed at once by a repaired loss do not look like a rate
 * @returns null when too little arrived
 */
export function busyRate(arrivals: ArrivalCurve, windowMs: number): number | null {
  let most = 0;
  for (const [index, endMs] of arrivals.timesMs.entries()) {
    most = Math.max(most, arrivals.bytes[index]! - arrivals.by(endMs - windowMs));
  }
  return most < MIN_BYTES ? null : (most / windowMs) * 8000;
}

/** A rate that is so much higher over a quarter of the window was not held over the window. */
const NOT_HELD = 1.4;

/** A rate that lasts for twice the window is nearer to the link's: what a repaired loss frees at once weighs less in it. */
const STILL_HELD = 0.83;

/** What a recording shows of the link's downstream rate. */
export interface LinkRate {
  bps: number;
  /** Whether the page kept the link full, for as long as a window at least. */
  filled: boolean;
}

/**
 * The link's rate: like `busyRate`, over a shorter window where the page did not fill the link for as long,
 * and over longer ones where it filled it for longer. A full link shows the same rate over all of them, a
 * page that comes in spurts does not.
 *
 * @param stalled whether responses stalled: then what comes at once was held back, and is no spurt
 * @returns null when too little arrived
 */
export function linkRate(arrivals: ArrivalCurve, windowMs: number, stalled: boolean): LinkRate | null {
  let bps = busyRate(arrivals, windowMs);
  if (bps === null) return null;
  const spurt = stalled ? null : busyRate(arrivals, windowMs / 4);
  if (spurt !== null && spurt > NOT_HELD * bps) return { bps: spurt, filled: false };
  for (let longerMs = 2 * windowMs; ; longerMs *= 2) {
    const longer = busyRate(arrivals, longerMs);
    if (longer === null || longer < STILL_HELD * bps) return { bps, filled: true };
    bps = longer;
  }
}
