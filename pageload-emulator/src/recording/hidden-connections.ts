import { groupBy, MAX_CONNECTIONS_PER_HOST, type RecordedRequest, type Recording } from '@hopwise/contract';
import { handshakeRounds } from '../transport/handshake.ts';
import { originOf } from '../util/url.ts';
import { ROUNDING_MS } from './har/values.ts';

/** Whether a recorder writes no connections: each request's wait then contains those for a connection and for its handshakes. */
export function hidesConnections({ requests, showsConnections }: Recording): boolean {
  if (showsConnections === true) return false;
  const isHidden = requests.every(
    ({ phases, connectionId }) => phases.connectStartMs === null && connectionId === null,
  );
  return isHidden && requests.some(isWaiting);
}

/** Whether a request shows when its response began, but not when it left. */
function isWaiting({ phases, startMs, fromCache }: RecordedRequest): boolean {
  const { requestStartMs, responseStartMs } = phases;
  return (
    !fromCache &&
    responseStartMs !== null &&
    requestStartMs !== null &&
    requestStartMs - startMs <= ROUNDING_MS
  );
}

/** Round trips of the handshakes of a new connection. */
export function openingRounds({ protocol, url }: RecordedRequest): number {
  return handshakeRounds(protocol ?? 'h1', url.startsWith('https:') ? '1.3' : null).length;
}

/** One of an origin's connections. */
interface Connection {
  openMs: number;
  /** When its response has ended, after which it can take another request. */
  freeMs: number;
}

/**
 * Replays an origin's connections under the recorded protocol, of which a recorder wrote none: when each request left, milliseconds by
 * `RecordedRequest.id`. Over HTTP/1.1 a request takes a connection that is free, or opens one of six, or waits for the first that
 * ends its response, whose end is recorded.
 *
 * @param rttOf round trip of an origin, milliseconds
 */
export function replayedStarts(
  { requests }: Recording,
  rttOf: (origin: string) => number,
): ReadonlyMap<number, number> {
  const sentMs = new Map<number, number>();
  const waiting = requests.filter((request) => isWaiting(request) && originOf(request.url) !== null);
  for (const [origin, own] of groupBy(waiting, ({ url }) => originOf(url)!)) {
    const connections: Connection[] = [];
    for (const request of own.toSorted((a, b) => a.startMs - b.startMs || a.id - b.id)) {
      sentMs.set(request.id, sendOn(connections, request, rttOf(origin)));
    }
  }
  return sentMs;
}

/** Sends a request on one of an origin's connections. @returns when it left, milliseconds */
function sendOn(connections: Connection[], request: RecordedRequest, rttMs: number): number {
  const { startMs, endMs, protocol } = request;
  const openMs = startMs + openingRounds(request) * rttMs;
  const isMultiplexed = protocol === 'h2' || protocol === 'h3';
  if (isMultiplexed) {
    const [shared = { openMs, freeMs: 0 }] = connections;
    if (connections.length === 0) connections.push(shared);
    return Math.max(startMs, shared.openMs);
  }
  const first = connections.reduce<Connection | null>(
    (a, b) => (a === null || b.freeMs < a.freeMs ? b : a),
    null,
  );
  const opens = connections.length < MAX_CONNECTIONS_PER_HOST && (first === null || first.freeMs > startMs);
  if (opens) connections.push({ openMs, freeMs: endMs });
  if (first === null || (opens && openMs <= first.freeMs)) return openMs;
  const sentMs = Math.max(startMs, first.freeMs);
  // The new connection stays free for the next request.
  if (opens) connections.at(-1)!.freeMs = openMs;
  first.freeMs = Math.max(endMs, sentMs);
  return sentMs;
}
