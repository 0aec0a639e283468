import type { RecordedRequest, Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/** One origin's requests, and the round trips that they show. */
export interface OriginTimings {
  origin: string;
  requests: RecordedRequest[];
  /** Shortest round trip of its handshakes and waits, milliseconds; null when all were withheld. */
  rttMs: number | null;
  /** Its handshakes that were recorded whole. */
  handshakes: { startMs: number; rttMs: number }[];
  /** Whether a handshake showed `rttMs`; waits alone give an upper bound. */
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
      timings = { origin, requests: [], rttMs: null, handshakes: [], fromHandshake: false };
      origins.set(origin, timings);
    }
    timings.requests.push(request);
  }
  for (const timings of origins.values()) readRoundTrips(timings);
  return origins;
}

/** A QUIC handshake shorter than this share of the origin's shortest wait was under way before its request. */
const PARTLY_SEEN_SHARE = 0.5;

function readRoundTrips(timings: OriginTimings): void {
  const minWaitMs = minimum(timings.requests.flatMap((request) => waitOf(request) ?? []));
  timings.handshakes = timings.requests.flatMap((request) => {
    const rttMs = handshakeRtt(request);
    if (rttMs === null) return [];
    const partlySeen = request.protocol === 'h3' && rttMs < PARTLY_SEEN_SHARE * (minWaitMs ?? 0);
    return partlySeen ? [] : [{ startMs: request.phases.connectStartMs!, rttMs }];
  });
  const handshakes = timings.handshakes.map(({ rttMs }) => rttMs);
  timings.fromHandshake = handshakes.length > 0;
  timings.rttMs = minimum(minWaitMs === null ? handshakes : [...handshakes, minWaitMs]);
}

/**
 * Returns the round trip that a new connection shows, milliseconds: TCP's handshake takes one; QUIC's, with TLS in it, also one.
 *
 * @returns null for a reused connection, for withheld phases, and for a connection that was under way before the request that
 *   used it: the browser clips the phases to the request's own time
 */
export function handshakeRtt(request: RecordedRequest): number | null {
  const { connectStartMs, secureStartMs, connectEndMs } = request.phases;
  if (connectStartMs === null || connectEndMs === null || connectEndMs <= connectStartMs) return null;
  const wholeMs = connectEndMs - connectStartMs;
  if (request.protocol === 'h3') return wholeMs;
  if (secureStartMs === null) return request.url.startsWith('https:') ? wholeMs / 2 : wholeMs;
  const tcpMs = secureStartMs - connectStartMs;
  const tlsMs = connectEndMs - secureStartMs;
  // TLS takes a round trip of its own: a far shorter TCP phase was recorded in part, or ended at a proxy.
  return tcpMs < tlsMs / 5 || tcpMs < MIN_TCP_MS ? null : tcpMs;
}

/** A shorter TCP phase measures nothing: Chromium's clock for pages ticks in tenths of a millisecond. */
const MIN_TCP_MS = 0.1;

/** Returns the time from the request's last byte to the response's first, milliseconds; null when withheld. */
export function waitOf(request: RecordedRequest): number | null {
  const { requestStartMs, responseStartMs } = request.phases;
  // A response of no bytes came from the browser itself: a copy of one that was under way.
  const copied = request.fromCache || request.transferBytes === 0;
  if (requestStartMs === null || responseStartMs === null || copied) return null;
  return responseStartMs > requestStartMs ? responseStartMs - requestStartMs : null;
}

function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b));
}
