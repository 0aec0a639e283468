import { originOf } from '../url.ts';
import type { RecordedRequest, Recording } from './recording.ts';

/** What the connections and waits of a recording say about one origin. */
export interface OriginTimings {
  origin: string;
  requests: RecordedRequest[];
  /** Shortest round trip seen in its handshakes and waits; null when all were withheld. */
  rttMs: number | null;
  /** Whether a handshake showed it; waits alone give an upper bound. */
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
      timings = { origin, requests: [], rttMs: null, fromHandshake: false };
      origins.set(origin, timings);
    }
    timings.requests.push(request);
    for (const rttMs of [handshakeRtt(request), waitOf(request)]) {
      if (rttMs !== null && rttMs > 0 && (timings.rttMs === null || rttMs < timings.rttMs))
        timings.rttMs = rttMs;
    }
    if (handshakeRtt(request) !== null) timings.fromHandshake = true;
  }
  return origins;
}

/**
 * Round trip shown by a new connection: TCP's handshake takes one; QUIC's, with TLS in it, also one.
 * Null for a reused connection or withheld phases.
 */
export function handshakeRtt(request: RecordedRequest): number | null {
  const { connectStartMs, secureStartMs, connectEndMs } = request.phases;
  if (connectStartMs === null || connectEndMs === null || connectEndMs <= connectStartMs) return null;
  const wholeMs = connectEndMs - connectStartMs;
  if (request.protocol === 'h3') return wholeMs;
  if (secureStartMs === null) return request.url.startsWith('https:') ? wholeMs / 2 : wholeMs;
  const tcpMs = secureStartMs - connectStartMs;
  const tlsMs = connectEndMs - secureStartMs;
  // A TCP phase far shorter than TLS's round trip was spent with something nearer: a proxy, or a raced socket.
  return tcpMs < tlsMs / 5 ? tlsMs : tcpMs;
}

/** From the request's last byte to the response's first as the browser saw it; null when withheld. */
export function waitOf(request: RecordedRequest): number | null {
  const { requestStartMs, responseStartMs } = request.phases;
  if (requestStartMs === null || responseStartMs === null || request.fromCache) return null;
  return responseStartMs > requestStartMs ? responseStartMs - requestStartMs : null;
}
