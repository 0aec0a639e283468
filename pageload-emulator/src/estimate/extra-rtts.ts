import { median } from '@hopwise/contract';
import { likelyExtraMs } from '../recording/likely-extra.ts';
import type { OriginTimings } from '../recording/origin-timings.ts';

/** Time besides the round trip, milliseconds: the processor time of both sides in a TLS handshake, a server's time for a static file. */
export const OWN_TIME_MS = { transport: 0, tls: 10 };

/** A handshake this much longer than another round trip to its origin met the repair of a loss, or is TLS 1.2's of two round trips. */
const REPAIRED_SHARE = 1.5;

/** Time that the link took for the bytes that arrived in a span, milliseconds: an upper bound of queueing behind them. */
export type Queued = (fromMs: number, toMs: number) => number;

/**
 * Estimates the round trip of each origin beyond the path's, milliseconds.
 *
 * Every round trip seen is an upper bound. A handshake less the time that the link took for what arrived meanwhile is a lower bound: its
 * packets cannot have queued for longer. The waits for static files are one where no handshake is seen, as of a connection that was opened
 * before it was requested. Between the two, the median of a prior is taken. Where a lower bound exceeds an upper one, as after
 * a lost packet or with the second round trip of TLS 1.2, the upper one holds.
 *
 * @param pathRttMs round trip to the nearest origin
 * @returns in the order of `origins`; the median of the others for an origin that shows no round trip
 */
export function extraRtts(origins: readonly OriginTimings[], pathRttMs: number, queuedMs: Queued): number[] {
  const extras = origins.map(({ roundTrips, rttMs }) => {
    if (rttMs === null) return null;
    const maxMs = Math.max(0, rttMs - pathRttMs);
    let minMs = 0;
    for (const trip of roundTrips) {
      if (trip.kind === 'wait' || trip.kind === 'file') continue;
      const leastMs = trip.rttMs - OWN_TIME_MS[trip.kind] - queuedMs(trip.endMs - trip.rttMs, trip.endMs);
      if (leastMs <= REPAIRED_SHARE * rttMs) minMs = Math.max(minMs, leastMs - pathRttMs);
    }
    return likelyExtraMs(Math.min(minMs, maxMs), maxMs);
  });
  const known = extras.filter((extra) => extra !== null);
  const typicalMs = known.length > 0 ? median(known) : 0;
  return extras.map((extra) => extra ?? typicalMs);
}
