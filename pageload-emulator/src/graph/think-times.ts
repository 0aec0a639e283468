import type { RecordedRequest, Recording } from '@hopwise/contract';
import { timingsByOrigin, waitOf } from '../recording/origin-timings.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import { quantile } from '../util/statistics.ts';
import { originOf } from '../util/url.ts';

/**
 * Server time of requests that the server works on: documents, frames, API calls, milliseconds; undefined for other
 * requests. Waits for static files are mostly queueing on the recorder's link, so they get their server's typical time.
 */
export function thinkTimes(recording: Recording): (request: RecordedRequest) => number | undefined {
  const origins = timingsByOrigin(recording);
  const typicalRttMs = quantile(
    [...origins.values()].flatMap(({ rttMs }) => (rttMs === null ? [] : [rttMs])),
    0.5,
  );
  return (request) => {
    if (request.type !== 'document' && request.type !== 'iframe' && request.type !== 'fetch')
      return undefined;
    const timings = origins.get(originOf(request.url) ?? '');
    const waitMs = waitOf(request) ?? withheldWait(request, timings?.requests[0] === request, typicalRttMs);
    if (waitMs === null) return undefined;
    // A wait is only an upper bound of its own origin's round trip.
    const rttMs = timings?.fromHandshake ? timings.rttMs : typicalRttMs;
    return Math.max(0, waitMs - (rttMs ?? waitMs));
  };
}

/**
 * The wait of a cross-origin redirect, whose phases browsers withhold: its duration less its handshakes. Its body is too
 * small to take time.
 */
function withheldWait(request: RecordedRequest, first: boolean, rttMs: number | null): number | null {
  if (request.status < 300 || request.status >= 400 || rttMs === null) return null;
  if (request.phases.responseStartMs !== null) return null;
  const handshakes = first ? handshakeRounds(request.protocol ?? 'h2', isSecure(request) ? '1.3' : null) : [];
  return Math.max(0, request.endMs - request.startMs - handshakes.length * rttMs);
}

function isSecure({ url }: RecordedRequest): boolean {
  return url.startsWith('https:');
}
