import { PACKET } from '../network/packet.ts';
import type { ArrivalCurve } from './arrival-curve.ts';

/** Fewer bytes in a window show nothing about the link. */
export const MIN_RATE_BYTES = 30_000;

/** When the rate over a part of a window exceeds the window's by this factor, it was not sustained. */
const NOT_HELD = 1.4;
/** A link to which nothing comes for more than the rest of a time waits for the page or its servers. */
const MIN_BUSY_SHARE = 0.5;

/**
 * Computes the highest downstream rate sustained over a window, bits per second: a lower bound of the link's rate, close to it
 * when the page filled the link. A slow link takes longer than the window for what shows a rate: it holds the same one meanwhile, and is
 * seldom idle.
 *
 * @param windowMs long enough that bytes released at once by a repaired loss do not look like a rate
 * @returns null when too little arrived
 */
export function busyRate(arrivals: ArrivalCurve, windowMs: number): number | null {
  if (arrivals.total < MIN_RATE_BYTES) return null;
  const shortest = busiestSpan(arrivals, windowMs);
  for (let span = shortest; ; span = busiestSpan(arrivals, 2 * span.lengthMs)) {
    const isHeld = NOT_HELD * rateOf(span) >= rateOf(shortest);
    const isBusy =
      span === shortest ||
      arrivals.busyMs(span.endMs - span.lengthMs, span.endMs) >= MIN_BUSY_SHARE * span.lengthMs;
    if (!isHeld || !isBusy) return null;
    if (span.bytes >= MIN_RATE_BYTES) return 8000 * rateOf(span);
  }
}

/** A time of a load, and the bytes that arrived meanwhile. */
interface Span {
  lengthMs: number;
  endMs: number;
  bytes: number;
}

const rateOf = ({ bytes, lengthMs }: Span): number => bytes / lengthMs;

/** The time of a length in which most arrived. */
function busiestSpan(arrivals: ArrivalCurve, lengthMs: number): Span {
  let busiest: Span = { lengthMs, endMs: 0, bytes: 0 };
  for (const [index, endMs] of arrivals.timesMs.entries()) {
    const bytes = arrivals.bytes[index]! - arrivals.by(endMs - lengthMs);
    if (bytes > busiest.bytes) busiest = { lengthMs, endMs, bytes };
  }
  return busiest;
}

/** What a connection sends in its first four round trips (RFC 6928): the rate of smaller pages depends on windows, not on the link. */
export const MIN_FILLING_BYTES = 150 * PACKET.tcp.payloadBytes;

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
