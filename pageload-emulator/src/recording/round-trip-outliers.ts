import { isHandshake, type RoundTrip } from './handshake-trips.ts';

/** Round trips agree when the longer one is at most this multiple of the shorter one. */
const AGREEING = 1.5;
/** A round trip shorter than this share of those that agree was not one: its answer was pushed, or came from a copy. */
export const TOO_SHORT = 0.5;
/** Waits of less, milliseconds, were for the machine itself: a pushed or copied response. */
export const MIN_WAIT_MS = 1;

/**
 * Leaves out an origin's round trips that disagree with its handshakes: a wait is at least a round trip, so one that is much shorter
 * than two handshakes that agree, made at different times, was no wait for the server; and of three transport handshakes the one that is
 * much shorter than two others was recorded in part. A single handshake may have been delayed: it contradicts waits of less than a millisecond only.
 *
 * @returns the others, in their order
 */
export function withoutOutliers(trips: readonly RoundTrip[]): RoundTrip[] {
  const whole = trips.filter(({ isClipped }) => !isClipped);
  const transport = ascending(whole.filter(({ kind }) => kind === 'transport'));
  const [shortest, ...others] = transport;
  const leastMs = agreedMs(others, () => true);
  const isCut = shortest !== undefined && leastMs !== null && shortest.rttMs < TOO_SHORT * leastMs;
  const handshakes = ascending(whole.filter((trip) => isHandshake(trip) && !(isCut && trip === shortest)));
  const handshakeMs = agreedMs(handshakes, isApart);
  const leastWaitMs =
    handshakeMs === null
      ? Math.min(MIN_WAIT_MS, TOO_SHORT * (handshakes[0]?.rttMs ?? 0))
      : TOO_SHORT * handshakeMs;
  return trips.filter(
    (trip) => !(isCut && trip === shortest) && (isHandshake(trip) || trip.rttMs >= leastWaitMs),
  );
}

/**
 * The shortest round trip that the next one agrees with, milliseconds; null where none does.
 *
 * @param isCounted whether two count as two
 */
function agreedMs(
  [first, ...others]: readonly RoundTrip[],
  isCounted: (a: RoundTrip, b: RoundTrip) => boolean,
): number | null {
  if (first === undefined) return null;
  const second = others.find((trip) => isCounted(first, trip));
  return second !== undefined && second.rttMs <= AGREEING * first.rttMs ? first.rttMs : null;
}

/** Whether one ended before the other began: at the same time one queue may have delayed both. */
function isApart(a: RoundTrip, b: RoundTrip): boolean {
  return a.endMs <= b.endMs - b.rttMs || b.endMs <= a.endMs - a.rttMs;
}

function ascending(trips: readonly RoundTrip[]): RoundTrip[] {
  return trips.toSorted((a, b) => a.rttMs - b.rttMs);
}
