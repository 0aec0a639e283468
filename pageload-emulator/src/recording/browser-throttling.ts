import type { Recording } from '@hopwise/contract';
import { isHandshake } from './handshake-trips.ts';
import { timingsByOrigin, waitOf } from './origin-timings.ts';

/** So many waits, of several origins, show a common least one. */
const MIN_WAITS = 10;
/** Shorter waits, milliseconds, are common to servers of one network. */
const MIN_THROTTLED_MS = 100;
/** A wait that is so many times a handshake is more than a round trip. */
const MIN_TIMES_HANDSHAKE = 2;
/** Different origins' servers do not agree on their shortest waits within this factor. */
const AGREEING = 1.1;

/**
 * Says that the browser itself seems to have slowed the load down (DevTools' network conditions, `Network.emulateNetworkConditions`). It
 * holds each answer back until a set time after its request, whatever the server, but opens connections as fast as the network does.
 *
 * @returns null where nothing shows it
 */
export function throttlingNote(recording: Recording): string | null {
  const leastWaitsMs: number[] = [];
  const handshakesMs: number[] = [];
  let waits = 0;
  for (const { requests, roundTrips } of timingsByOrigin(recording).values()) {
    const waitsMs = requests.flatMap((request) => waitOf(request) ?? []);
    const ownMs = roundTrips.filter(isHandshake).map(({ rttMs }) => rttMs);
    if (waitsMs.length > 0) leastWaitsMs.push(Math.min(...waitsMs));
    if (ownMs.length > 0) handshakesMs.push(Math.min(...ownMs));
    waits += waitsMs.length;
  }
  if (waits < MIN_WAITS || handshakesMs.length === 0) return null;
  const leastMs = Math.min(...leastWaitsMs);
  const handshakeMs = Math.max(...handshakesMs);
  const agreeing = leastWaitsMs.filter((ms) => ms <= AGREEING * leastMs);
  if (agreeing.length < 2 || leastMs < Math.max(MIN_THROTTLED_MS, MIN_TIMES_HANDSHAKE * handshakeMs))
    return null;
  return `the browser itself seems to have slowed the load down, as DevTools' throttling does: no answer came within ${Math.floor(leastMs)} ms, but connections opened within ${Math.ceil(handshakeMs)} ms; that delays all protocols alike and tells little of a network that is slow`;
}
