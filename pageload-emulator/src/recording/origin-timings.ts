import { groupBy, type RecordedRequest, type Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';
import { findTlsExtra, handshakeTrips, isHandshake, type RoundTrip } from './handshake-trips.ts';
import { hidesConnections, openingRounds } from './hidden-connections.ts';
import { findNearbyTcp } from './nearby-tcp.ts';
import { withoutOutliers } from './round-trip-outliers.ts';

/** One origin's requests, and the round trips that they show. */
export interface OriginTimings {
  origin: string;
  requests: RecordedRequest[];
  /** Its waits and whole handshakes; clipped handshakes only if there is nothing else. */
  roundTrips: RoundTrip[];
  /** Shortest of `roundTrips`, milliseconds; null without any. */
  rttMs: number | null;
  /** Whether a handshake is among `roundTrips`; waits alone give an upper bound. */
  fromHandshake: boolean;
  /** Number of round trips that were left out, as they disagree with handshakes. */
  leftOut: number;
  /** Whether TCP connections to it end near by (`findNearbyTcp`): `roundTrips` then has none of TCP. */
  tcpEndsNearby: boolean;
}

/** Gathers the recording's requests by origin, in order of first use. */
export function timingsByOrigin(recording: Recording): Map<string, OriginTimings> {
  const { requests } = recording;
  const isHidden = hidesConnections(recording);
  const tlsExtraMs = findTlsExtra(requests);
  const nearby = findNearbyTcp(requests);
  const timingsOf = (origin: string, own: RecordedRequest[]): OriginTimings => {
    const tcpEndsNearby = nearby.has(origin);
    const shown = readRoundTrips(own, isHidden, tlsExtraMs, tcpEndsNearby);
    return { origin, requests: own, ...shown, tcpEndsNearby };
  };
  const byOrigin = groupBy(requests, ({ url }) => originOf(url));
  return new Map(
    [...byOrigin].flatMap(([origin, own]) =>
      origin === null ? [] : [[origin, timingsOf(origin, own)] as const],
    ),
  );
}

/** A QUIC handshake shorter than this share of the origin's shortest wait was under way before its request. */
const MIN_SHARE_OF_WAIT = 0.5;

/**
 * @param isHidden whether the first wait contains the handshakes of a connection
 * @param isNearby whether TCP's handshakes do not go to the server
 */
function readRoundTrips(
  requests: readonly RecordedRequest[],
  isHidden: boolean,
  tlsExtraMs: number | null,
  isNearby: boolean,
): Pick<OriginTimings, 'roundTrips' | 'rttMs' | 'fromHandshake' | 'leftOut'> {
  const waits = requests.flatMap((request) =>
    waitTrip(request, isHidden && request === requests[0] ? 1 + openingRounds(request) : 1),
  );
  const minWaitMs = waits.reduce((min, { rttMs }) => Math.min(min, rttMs), Number.POSITIVE_INFINITY);
  const handshakes = requests.flatMap((request) => {
    const shown = handshakeTrips(request, request === requests[0], tlsExtraMs);
    const isWithTls = isNearby && request.protocol !== 'h3' && request.phases.secureStartMs !== null;
    const trips = isWithTls ? tlsTrips(shown) : shown;
    const isCut =
      request.protocol === 'h3' && trips.some(({ rttMs }) => rttMs < MIN_SHARE_OF_WAIT * minWaitMs);
    return isCut && Number.isFinite(minWaitMs) ? [] : trips;
  });
  const whole = [...handshakes.filter(({ isClipped }) => !isClipped), ...waits];
  const sound = withoutOutliers(whole);
  const roundTrips = whole.length > 0 ? sound : handshakes;
  const rttMs = roundTrips.reduce<number | null>(
    (least, trip) => Math.min(least ?? trip.rttMs, trip.rttMs),
    null,
  );
  return {
    roundTrips,
    rttMs,
    fromHandshake: roundTrips.some(isHandshake),
    leftOut: whole.length - sound.length,
  };
}

/** Those of TLS, which go through to the server whatever was cut off TCP's. */
const tlsTrips = (trips: readonly RoundTrip[]): RoundTrip[] =>
  trips.flatMap((trip) => (trip.kind === 'tls' ? { ...trip, isClipped: false } : []));

/** @param trips round trips that the wait contains */
function waitTrip(request: RecordedRequest, trips: number): RoundTrip[] {
  const waitMs = waitOf(request);
  const endMs = request.phases.responseStartMs;
  if (waitMs === null || endMs === null) return [];
  return [{ kind: isStatic(request) ? 'file' : 'wait', rttMs: waitMs / trips, endMs, isClipped: false }];
}

/** Whether a response is probably a file, which a server sends at once. */
function isStatic({ type }: RecordedRequest): boolean {
  return type === 'script' || type === 'style' || type === 'image' || type === 'font';
}

/** Returns the time from the request's last byte to the response's first, milliseconds; null when withheld. */
export function waitOf(request: RecordedRequest): number | null {
  const { requestStartMs, responseStartMs } = request.phases;
  // A response of no bytes came from the browser itself: a copy of one that was under way.
  const copied = request.fromCache || request.transferBytes === 0;
  if (requestStartMs === null || responseStartMs === null || copied) return null;
  return responseStartMs > requestStartMs ? responseStartMs - requestStartMs : null;
}
