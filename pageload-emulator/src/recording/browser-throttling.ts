import type { Recording } from '@hopwise/contract';
import { timingsByOrigin, waitOf } from './origin-timings.ts';

/** So many waits, of several origins, show a common least one. */
const MIN_WAITS = 10;
/** Shorter waits, milliseconds, are common to servers of one network. */
const MIN_THROTTLED_MS = 100;
/** A wait that is so many times a handshake is longer than a round trip. */
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
  const origins = [...timingsByOrigin(recording).values()];
  const waitsMs = origins.map(({ requests }) => requests.flatMap((request) => waitOf(request) ?? []));
  const [leastMs = 0, nextMs = Infinity] = waitsMs.map((own) => Math.min(...own)).sort((a, b) => a - b);
  // Of such an origin, a handshake is the shortest round trip.
  const handshakeMs = Math.max(...origins.map(({ fromHandshake, rttMs }) => (fromHandshake ? rttMs! : 0)));
  const isThrottled =
    handshakeMs > 0 &&
    waitsMs.flat().length >= MIN_WAITS &&
    nextMs <= AGREEING * leastMs &&
    leastMs >= Math.max(MIN_THROTTLED_MS, MIN_TIMES_HANDSHAKE * handshakeMs);
  return isThrottled
    ? `DevTools' throttling seems to be on: no answer came within ${Math.floor(leastMs)} ms, but connections opened within ${Math.ceil(handshakeMs)} ms; it delays all protocols alike`
    : null;
}
