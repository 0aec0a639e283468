import type { RecordedRequest, Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';
import { handshakeTrips, isHandshake, type RoundTrip } from './handshake-trips.ts';

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
}

/** Gathers the recording's requests by origin, in order of first use. */
export function timingsByOrigin(recording: Recording): Map<string, OriginTimings> {
  const origins = new Map<string, OriginTimings>();
  for (const request of recording.requests) {
    const origin = originOf(request.url);
    if (origin === null) continue;
    let timings = origins.get(origin);
    if (timings === undefined) {
      timings = { origin, requests: [], roundTrips: [], rttMs: null, fromHandshake: false };
      origins.set(origin, timings);
    }
    timings.requests.push(request);
  }
  for (const timings of origins.values()) readRoundTrips(timings);
  return origins;
}

/** A QUIC handshake shorter than this share of the origin's shortest wait was under way before its request. */
const MIN_SHARE_OF_WAIT = 0.5;

function readRoundTrips(timings: OriginTimings): void {
  const { requests } = timings;
  const waits = requests.flatMap(waitTrip);
  const minWaitMs = waits.reduce((min, { rttMs }) => Math.min(min, rttMs), Number.POSITIVE_INFINITY);
  const handshakes = requests.flatMap((request) => {
    const trips = handshakeTrips(request, request === requests[0]);
    const isCut =
      request.protocol === 'h3' && trips.some(({ rttMs }) => rttMs < MIN_SHARE_OF_WAIT * minWaitMs);
    return isCut && Number.isFinite(minWaitMs) ? [] : trips;
  });
  const whole = [...handshakes.filter(({ isClipped }) => !isClipped), ...waits];
  timings.roundTrips = whole.length > 0 ? whole : handshakes;
  timings.fromHandshake = timings.roundTrips.some(isHandshake);
  for (const { rttMs } of timings.roundTrips) timings.rttMs = Math.min(timings.rttMs ?? rttMs, rttMs);
}

function waitTrip(request: RecordedRequest): RoundTrip[] {
  const rttMs = waitOf(request);
  const endMs = request.phases.responseStartMs;
  if (rttMs === null || endMs === null) return [];
  return [{ kind: isStatic(request) ? 'file' : 'wait', rttMs, endMs, isClipped: false }];
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
