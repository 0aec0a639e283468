import { median, type RecordedRequest, type Recording } from '@hopwise/contract';
import { MAX_QUEUE_MS } from '../network/priors.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { isHandshake } from '../recording/handshake-trips.ts';
import { hidesConnections, replayedStarts } from '../recording/hidden-connections.ts';
import { likelyConnection } from '../recording/likely-connection.ts';
import { unseenRoundTrip } from '../recording/likely-extra.ts';
import { busyRate, linkRate, MIN_FILLING_BYTES } from '../recording/link-rate.ts';
import { type OriginTimings, timingsByOrigin, waitOf } from '../recording/origin-timings.ts';
import { pathRoundTrip } from '../recording/path-round-trip.ts';
import { MIN_WAIT_MS } from '../recording/round-trip-outliers.ts';
import { findUploads, transportOf } from '../recording/uploads.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import { uploadTime } from '../transport/upload-time.ts';
import { originOf } from '../util/url.ts';
import type { KnownLink } from './known-link.ts';
import { sharedDelays, type WaitSpan } from './shared-delays.ts';

/** The link's rate is taken over this many round trips, and at least over this time. */
const RATE_WINDOW_RTTS = 4;
const MIN_RATE_WINDOW_MS = 200;
/** A link is full for long when its average rate is this share of the highest: repaired losses let bytes arrive at once. */
const BUSY_SHARE = 0.35;
/** Losses leave a link idle for less: even a packet that is lost three times in a row is repaired sooner (`TCP_RTO_MIN` in Linux, doubled each time). */
const LONG_IDLE_MS = 1_400;
/** Delay by a busy processor, which a recording does not show; iframes that are requested together wait about so long. */
const UNSEEN_DELAY_MS = 30;
/** A round trip varies, which looks like a file's server at work; by this share. */
const UNSEEN_SHARE = 0.5;
/** The link delays what waits at one time by at most this many round trips. */
const MAX_SHARED_RTTS = 2;
/** A round trip this much longer than another response's whole wait was delayed. */
const DELAYED_SHARE = 1.2;

/** A request's wait for the server's first byte. */
interface Wait {
  /** Requests of one group are for like responses of one server. */
  group: string;
  /** Wait less the round trip, milliseconds: the server's time and delays on the way. */
  excessMs: number;
  /** How long the response was delayed on the way, milliseconds: an upper bound. */
  maxDelayMs: number;
  /** How long it may have been delayed besides, milliseconds. */
  unseenMs: number;
  /** Whether it is a file, which most servers send at once. */
  isFile: boolean;
}

/**
 * Estimates the server's time for each request, milliseconds; undefined where the recording shows no wait: the time of its server
 * (`ServerProfile.thinkMs`) applies to these.
 *
 * A wait consists of a round trip, the server's time and delays on the way: behind other responses, or for the repair of a
 * loss. The shortest wait of like requests has the least delay, so it shows how long the server takes; for files, which most servers
 * send at once, less its delay. A longer wait is the server's time only so far as these delays cannot explain it.
 *
 * @param link what arrivals show of it where it is not known yet
 */
export function thinkTimes(
  recording: Recording,
  link?: KnownLink,
): (request: RecordedRequest) => number | undefined {
  const waits = findWaits(recording, link);
  const minExcessMs = new Map<string, number>();
  for (const { group, excessMs, isFile, maxDelayMs } of waits.values()) {
    const shortestMs = isFile ? Math.max(0, excessMs - maxDelayMs) : excessMs;
    minExcessMs.set(group, Math.min(shortestMs, minExcessMs.get(group) ?? Number.POSITIVE_INFINITY));
  }
  return ({ id }) => {
    const wait = waits.get(id);
    if (wait === undefined) return undefined;
    return Math.max(minExcessMs.get(wait.group)!, wait.excessMs - wait.maxDelayMs - wait.unseenMs);
  };
}

/** Returns the waits of requests by `RecordedRequest.id`. */
function findWaits(recording: Recording, link?: KnownLink): Map<number, Wait> {
  const origins = timingsByOrigin(recording);
  const roundTrips = new Map([...origins].map(([origin, timings]) => [origin, roundTripOf(timings)]));
  const shown = [...roundTrips.values()].filter((rttMs) => rttMs !== null);
  const known = [...origins.values()].flatMap(({ rttMs }) => rttMs ?? []);
  const typical = shown.length > 0 ? shown : known;
  const typicalRttMs = typical.length > 0 ? median(typical) : null;
  const { rttMs: nearestMs } = pathRoundTrip(origins.values());
  const queuedMs = linkQueue(recording, typicalRttMs ?? 0, link);
  const busyMs = connectionQueue(recording, typicalRttMs ?? 0);
  const rttOf = (own: OriginTimings) => {
    const unshownMs = own.fromHandshake ? typicalRttMs : unseenRoundTrip(own.rttMs, nearestMs);
    return roundTrips.get(own.origin) ?? unshownMs;
  };
  const sentMs = hidesConnections(recording)
    ? replayedStarts(recording, (origin) => rttOf(origins.get(origin)!) ?? 0)
    : null;
  const uploads = findUploads(recording.requests);
  const waits = new Map<number, Wait>();
  const spans: WaitSpan[] = [];
  for (const request of recording.requests) {
    const origin = originOf(request.url);
    if (origin === null) continue;
    const own = origins.get(origin)!;
    const isFirst = own.requests[0] === request;
    const recordedMs = waitOf(request) ?? withheldWait(request, isFirst, typicalRttMs);
    if (recordedMs === null) continue;
    const hiddenMs = Math.max(0, (sentMs?.get(request.id) ?? 0) - (request.phases.requestStartMs ?? 0));
    const waitMs = Math.max(0, recordedMs - hiddenMs);
    const rttMs = rttOf(own) ?? waitMs;
    const { bytes = 0, beforeBytes = 0 } = uploads.get(request.id) ?? {};
    const uploadMs = link ? uploadTime(bytes, beforeBytes, transportOf(request), rttMs, link.upBps) : 0;
    const isUpload = Boolean(request.requestBodyBytes);
    const excessMs = Math.max(0, waitMs - rttMs - (isUpload ? uploadMs : 0));
    const { requestStartMs, responseStartMs } = request.phases;
    if (requestStartMs !== null && responseStartMs !== null)
      spans.push({ id: request.id, origin, fromMs: requestStartMs, toMs: responseStartMs, excessMs });
    waits.set(request.id, {
      group: groupOf(request, origin),
      excessMs,
      maxDelayMs: Math.max(queuedMs(request), busyMs.get(request.id) ?? 0) + (isUpload ? 0 : uploadMs),
      unseenMs: isComputed(request) ? UNSEEN_DELAY_MS : Math.max(UNSEEN_DELAY_MS, UNSEEN_SHARE * rttMs),
      isFile: !isComputed(request),
    });
  }
  const maxMs = MAX_SHARED_RTTS * (typicalRttMs ?? 0);
  for (const [id, sharedMs] of sharedDelays(spans)) {
    const wait = waits.get(id)!;
    if (wait.isFile) wait.maxDelayMs = Math.max(wait.maxDelayMs, Math.min(maxMs, sharedMs));
  }
  return waits;
}

/** No two documents are alike, nor are a frame and a redirect to it. */
function groupOf(request: RecordedRequest, origin: string): string {
  if (request.type === 'document') return `${request.id}`;
  if (isRedirect(request)) return `redirect ${origin}`;
  return `${isComputed(request) ? request.type : 'file'} ${origin}`;
}

/** Whether servers work on a response; most others are static files. */
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
    else if (waitMs >= MIN_WAIT_MS) shownMs = Math.min(shownMs, waitMs);
  }
  return shownMs <= DELAYED_SHARE * computedMs ? shownMs : null;
}

/** Returns the time that the link took for what may have been ahead of a response while its request waited, milliseconds. */
function linkQueue(
  { requests }: Recording,
  rttMs: number,
  link?: KnownLink,
): (request: RecordedRequest) => number {
  const arrivals = new ArrivalCurve(requests);
  const windowMs = Math.max(MIN_RATE_WINDOW_MS, RATE_WINDOW_RTTS * rttMs);
  const bps = busyRate(arrivals, windowMs);
  const { total, timesMs } = arrivals;
  const averageBps = (8000 * total) / Math.max(1, (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0));
  const isFilled =
    total >= MIN_FILLING_BYTES &&
    bps !== null &&
    (linkRate(arrivals, windowMs, false)?.filled === true || averageBps >= BUSY_SHARE * bps);
  return (request) => {
    const { requestStartMs, responseStartMs } = request.phases;
    if (bps === null || requestStartMs === null || responseStartMs === null) return 0;
    // Nothing queues for long on a link that the page never fills.
    if (!isFilled && !isComputed(request)) return 0;
    const rateBps = link?.downBps ?? bps;
    const allMs = arrivals.transmission(requestStartMs, responseStartMs, rateBps);
    const wasIdle = responseStartMs - requestStartMs - allMs > LONG_IDLE_MS;
    // What had arrived before the link was idle was not ahead of the response.
    const carriedMs = wasIdle
      ? arrivals.transmission(
          arrivals.busySince(requestStartMs, responseStartMs, BUSY_SHARE * rateBps),
          responseStartMs,
          rateBps,
        )
      : allMs;
    // On an HTTP/1.1 connection nothing is ahead of a response but what is in the link's queue.
    return request.protocol === 'h1' ? Math.min(link?.maxQueueMs ?? MAX_QUEUE_MS, carriedMs) : carriedMs;
  };
}

/**
 * For how long a request's connection had carried other responses when its own began, milliseconds by `RecordedRequest.id`, as far as it
 * waited meanwhile. What a server has written to a connection goes first (`SocketBuffer`), a window in each round trip.
 */
function connectionQueue({ requests }: Recording, rttMs: number): Map<number, number> {
  const starting = requests.flatMap((request) => {
    const { id, endMs, phases } = request;
    const { requestStartMs, responseStartMs } = phases;
    return requestStartMs === null || responseStartMs === null
      ? []
      : [{ id, connection: likelyConnection(request), requestStartMs, responseStartMs, endMs }];
  });
  starting.sort((a, b) => a.responseStartMs - b.responseStartMs);
  const busy = new Map<string, { sinceMs: number; untilMs: number }>();
  const waitedMs = new Map<number, number>();
  for (const { id, connection, requestStartMs, responseStartMs, endMs } of starting) {
    const period = busy.get(connection);
    if (period !== undefined && responseStartMs <= period.untilMs + rttMs) {
      waitedMs.set(id, responseStartMs - Math.max(requestStartMs, period.sinceMs));
      period.untilMs = Math.max(period.untilMs, endMs);
    } else busy.set(connection, { sinceMs: responseStartMs, untilMs: endMs });
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
