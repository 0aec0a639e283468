import type { RecordedRequest, Recording } from '@hopwise/contract';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { isHandshake } from '../recording/handshake-trips.ts';
import { busyRate } from '../recording/link-rate.ts';
import { type OriginTimings, timingsByOrigin, waitOf } from '../recording/origin-timings.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import { quantile } from '../util/statistics.ts';
import { originOf } from '../util/url.ts';

/** The link's rate is taken over this many round trips, and at least over this time. */
const RATE_WINDOW_RTTS = 4;
const MIN_RATE_WINDOW_MS = 200;
/** Delay by a busy processor, which a recording does not show; iframes that are requested together wait about so long. */
const UNSEEN_DELAY_MS = 30;
/** A round trip this much longer than another response's whole wait was delayed. */
const DELAYED_SHARE = 1.2;

/** A request's wait for the server's first byte. */
interface Wait {
  /** Requests of one group are for like responses of one server. */
  group: string;
  /** Wait less the round trip, milliseconds: the server's time and delays on the way. */
  excessMs: number;
  /** How long the response may have been delayed on the way, milliseconds. */
  maxDelayMs: number;
}

/**
 * Estimates the server's time for documents, frames and API calls, milliseconds; undefined for other requests, whose servers
 * have a time of their own, and where the recording shows no wait.
 *
 * A wait consists of a round trip, the server's time and delays on the way: behind other responses, or for the repair of a
 * loss. The shortest wait of like requests has the least delay, so it shows how long the server takes. A longer wait is the
 * server's time only so far as these delays cannot explain it.
 */
export function thinkTimes(recording: Recording): (request: RecordedRequest) => number | undefined {
  const waits = findWaits(recording);
  const minExcessMs = new Map<string, number>();
  for (const { group, excessMs } of waits.values()) {
    minExcessMs.set(group, Math.min(excessMs, minExcessMs.get(group) ?? Number.POSITIVE_INFINITY));
  }
  return ({ id }) => {
    const wait = waits.get(id);
    if (wait === undefined) return undefined;
    return Math.max(minExcessMs.get(wait.group)!, wait.excessMs - wait.maxDelayMs);
  };
}

/** Returns the waits of requests that servers work on, by `RecordedRequest.id`. */
function findWaits(recording: Recording): Map<number, Wait> {
  const origins = timingsByOrigin(recording);
  const roundTrips = new Map([...origins].map(([origin, timings]) => [origin, roundTripOf(timings)]));
  const shown = [...roundTrips.values()].filter((rttMs) => rttMs !== null);
  const known = [...origins.values()].flatMap(({ rttMs }) => rttMs ?? []);
  const typicalRttMs = quantile(shown.length > 0 ? shown : known, 0.5);
  const queuedMs = linkQueue(recording, typicalRttMs ?? 0);
  const busyMs = connectionQueue(recording, typicalRttMs ?? 0);
  const waits = new Map<number, Wait>();
  for (const request of recording.requests) {
    const origin = originOf(request.url);
    if (origin === null || !isComputed(request)) continue;
    const isFirst = origins.get(origin)!.requests[0] === request;
    const waitMs = waitOf(request) ?? withheldWait(request, isFirst, typicalRttMs);
    if (waitMs === null) continue;
    const rttMs = roundTrips.get(origin) ?? typicalRttMs ?? waitMs;
    waits.set(request.id, {
      group: groupOf(request, origin),
      excessMs: Math.max(0, waitMs - rttMs),
      maxDelayMs: Math.max(queuedMs(request), busyMs.get(request.id) ?? 0) + UNSEEN_DELAY_MS,
    });
  }
  return waits;
}

/** No two documents are alike, nor are a frame and a redirect to it. */
function groupOf(request: RecordedRequest, origin: string): string {
  if (request.type === 'document') return `${request.id}`;
  return `${isRedirect(request) ? 'redirect' : request.type} ${origin}`;
}

/** Whether servers work on a response; others are static files. */
function isComputed({ type }: RecordedRequest): boolean {
  return type === 'document' || type === 'iframe' || type === 'fetch';
}

/**
 * An origin's round trip as handshakes and static files show it, milliseconds; null when a computed response came sooner than
 * these, as they were then delayed, or when no handshake was recorded.
 */
function roundTripOf({ requests, roundTrips, fromHandshake }: OriginTimings): number | null {
  if (!fromHandshake) return null;
  let shownMs = Number.POSITIVE_INFINITY;
  let computedMs = Number.POSITIVE_INFINITY;
  for (const trip of roundTrips) if (isHandshake(trip)) shownMs = Math.min(shownMs, trip.rttMs);
  for (const request of requests) {
    const waitMs = waitOf(request) ?? Number.POSITIVE_INFINITY;
    if (isComputed(request)) computedMs = Math.min(computedMs, waitMs);
    else shownMs = Math.min(shownMs, waitMs);
  }
  return shownMs <= DELAYED_SHARE * computedMs ? shownMs : null;
}

/** Returns the time that the link took for what arrived while a request waited, milliseconds. */
function linkQueue({ requests }: Recording, rttMs: number): (request: RecordedRequest) => number {
  const arrivals = new ArrivalCurve(requests);
  const bps = busyRate(arrivals, Math.max(MIN_RATE_WINDOW_MS, RATE_WINDOW_RTTS * rttMs));
  return ({ phases: { requestStartMs, responseStartMs } }) =>
    bps === null || requestStartMs === null || responseStartMs === null
      ? 0
      : arrivals.transmission(requestStartMs, responseStartMs, bps);
}

/**
 * For how long a request's connection had carried other responses when its own began, milliseconds by `RecordedRequest.id`, as far as it
 * waited meanwhile. What a server has written to a connection goes first (`SocketBuffer`), a window in each round trip.
 */
function connectionQueue({ requests }: Recording, rttMs: number): Map<number, number> {
  const starting = requests.flatMap(
    ({ id, connectionId, endMs, phases: { requestStartMs, responseStartMs } }) =>
      connectionId === null || requestStartMs === null || responseStartMs === null
        ? []
        : [{ id, connectionId, requestStartMs, responseStartMs, endMs }],
  );
  starting.sort((a, b) => a.responseStartMs - b.responseStartMs);
  const busy = new Map<string | number, { sinceMs: number; untilMs: number }>();
  const waitedMs = new Map<number, number>();
  for (const { id, connectionId, requestStartMs, responseStartMs, endMs } of starting) {
    const period = busy.get(connectionId);
    if (period !== undefined && responseStartMs <= period.untilMs + rttMs) {
      waitedMs.set(id, responseStartMs - Math.max(requestStartMs, period.sinceMs));
      period.untilMs = Math.max(period.untilMs, endMs);
    } else busy.set(connectionId, { sinceMs: responseStartMs, untilMs: endMs });
  }
  return waitedMs;
}

/**
 * The wait of a cross-origin redirect, whose phases browsers withhold: its duration less its handshakes. Its body is too
 * small to take time.
 */
function withheldWait(request: RecordedRequest, first: boolean, rttMs: number | null): number | null {
  if (!isRedirect(request) || rttMs === null) return null;
  if (request.phases.requestStartMs !== null) return null;
  const handshakes = first ? handshakeRounds(request.protocol ?? 'h2', isSecure(request) ? '1.3' : null) : [];
  return Math.max(0, request.endMs - request.startMs - handshakes.length * rttMs);
}

function isRedirect({ status }: RecordedRequest): boolean {
  return status >= 300 && status < 400;
}

function isSecure({ url }: RecordedRequest): boolean {
  return url.startsWith('https:');
}
