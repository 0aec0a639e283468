import type { ArrivalCurve } from './arrivals.ts';

/** Windows that saw fewer bytes say nothing about a link. */
const LEAST_BYTES = 30_000;

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
  return most < LEAST_BYTES ? null : (most / windowMs) * 8000;
}

/** A rate that is so much higher over a quarter of the window was not held over the window. */
const NOT_HELD = 1.4;

/**
 * Like `busyRate`, over a shorter window where the page did not fill the link for as long: a link that is
 * full shows the same rate over both, a page that comes in spurts does not.
 */
export function linkRate(arrivals: ArrivalCurve, windowMs: number): number | null {
  const held = busyRate(arrivals, windowMs);
  const spurt = busyRate(arrivals, windowMs / 4);
  return held !== null && spurt !== null && spurt > NOT_HELD * held ? spurt : held;
}
