import { median } from '@hopwise/contract';
import type { OriginTimings } from './origin-timings.ts';
import { MIN_WAIT_MS } from './round-trip-outliers.ts';

/** The round trip of a recording's path, which is that to its nearest origin. */
interface PathRoundTrip {
  /** Milliseconds; null where no request shows one. */
  rttMs: number | null;
  /** That of the middle one of the origins with a handshake, milliseconds; `rttMs` without any. */
  typicalMs: number | null;
}

/** So many waits of origins without a handshake, each at most twice as long as the shortest, contradict longer handshakes of others. */
const CONTRADICTING = 3;

/** Waits bound the path's round trip from above: those that several of them agree on, or where no handshake shows it the shortest. */
export function pathRoundTrip(origins: Iterable<OriginTimings>): PathRoundTrip {
  const shown: number[] = [];
  const all: number[] = [];
  for (const { rttMs, fromHandshake, roundTrips } of origins) {
    if (rttMs === null) continue;
    if (fromHandshake) shown.push(rttMs);
    else for (const trip of roundTrips) all.push(trip.rttMs);
  }
  const remote = all.filter((ms) => ms >= MIN_WAIT_MS);
  const waits = (remote.length > 0 ? remote : all).sort((a, b) => a - b);
  const [waitMs = null] = waits;
  if (shown.length === 0) return { rttMs: waitMs, typicalMs: waitMs };
  const agreed = waits.find((ms, index) => (waits[index + CONTRADICTING - 1] ?? Infinity) <= 2 * ms);
  return { rttMs: Math.min(...shown, agreed ?? Infinity), typicalMs: median(shown) };
}
