import { median, type Recording } from '@hopwise/contract';
import { PACKET } from '../network/packet.ts';
import { MAX_QUEUE_MS } from '../network/priors.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { timingsByOrigin } from '../recording/origin-timings.ts';

/** The link counts as busy while it carries at least this share of what fits. */
const BUSY_SHARE = 0.5;
/** A handshake waited in a queue if it took longer than another round trip by the transmission of this many packets. */
const QUEUED_PACKETS = 4;
/** Less is the browser's own time, milliseconds. */
const MIN_QUEUED_MS = 5;

/**
 * Whether handshakes on a busy link waited in a queue. On a slow link they wait behind the responses that fill it; a policer drops what exceeds
 * its rate and delays nothing.
 *
 * @param bps rate at which responses seem to fill the link, bits per second
 * @returns null where no handshake over HTTP/3 was made meanwhile to an origin that shows another round trip
 */
export function handshakesQueued(recording: Recording, bps: number): boolean | null {
  const arrivals = new ArrivalCurve(recording.requests);
  const excesses: number[] = [];
  for (const { roundTrips } of timingsByOrigin(recording).values()) {
    const least = roundTrips.reduce((min, { rttMs }) => Math.min(min, rttMs), Number.POSITIVE_INFINITY);
    for (const { kind, rttMs, endMs } of roundTrips) {
      if (kind !== 'transport' || roundTrips.length < 2) continue;
      const excessMs = rttMs - least;
      // Longer than any queue: the repair of a lost packet.
      if (excessMs > MAX_QUEUE_MS) continue;
      if (arrivals.transmission(endMs - rttMs, endMs, bps) >= BUSY_SHARE * rttMs) excesses.push(excessMs);
    }
  }
  if (excesses.length === 0) return null;
  const packetMs = (8000 * PACKET.tcp.payloadBytes) / bps;
  return median(excesses) > Math.max(MIN_QUEUED_MS, QUEUED_PACKETS * packetMs);
}
