import { PACKET } from '../network/packet.ts';
import type { ArrivalCurve } from './arrival-curve.ts';

/** Fewer bytes in a window show nothing about the link. */
export const MIN_RATE_BYTES = 30_000;

/**
 * Computes the highest downstream rate sustained over a window, bits per second: a lower bound of the link's rate, close to it
 * when the page filled the link.
 *
 * @param windowMs long enough that bytes released at once by a repaired loss do not look like a rate
 * @returns null when too little arrived
 */
export function busyRate(arrivals: ArrivalCurve, windowMs: number): number | null {
  let max = 0;
  for (const [index, endMs] of arrivals.timesMs.entries()) {
    max = Math.max(max, arrivals.bytes[index]! - arrivals.by(endMs - windowMs));
  }
  return max < MIN_RATE_BYTES ? null : (max / windowMs) * 8000;
}

/** What a connection sends in its first four round trips (RFC 6928): the rate of smaller pages depends on windows, not on the link. */
export const MIN_FILLING_BYTES = 150 * PACKET.tcp.payloadBytes;

/** When the rate over a quarter of the window exceeds the window's by this factor, it was not sustained. */
const NOT_HELD = 1.4;

/** A window of twice the length replaces the shorter one when its rate is at least this share: bytes released by repairs weigh less in it. */
const STILL_HELD = 0.83;

/** The link's downstream rate as far as a recording shows it. */
interface LinkRate {
  bps: number;
  /** Whether the page filled the link for at least a window. */
  filled: boolean;
}

/**
 * Estimates the link's rate as `busyRate` does, over a shorter window when the page filled the link only briefly, and over
 * longer windows when it filled it for longer. A full link shows the same rate over all of them; a page that arrives in spurts
 * does not.
 *
 * @param stalled whether responses stalled: bytes that arrive at once were then held back and are no spurt
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
