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
