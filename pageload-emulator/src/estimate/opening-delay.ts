import type { RecordedRequest, ServerProfile } from '@hopwise/contract';
import type { OriginTimings } from '../recording/origin-timings.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import type { Queued } from './extra-rtts.ts';

/** A connection was held up where it took this much longer than its round trips, milliseconds: less than the 1000 after which a SYN is repeated (RFC 6298 section 2). */
const MIN_DELAY_MS = 750;

/**
 * Finds for how long an origin kept its first connection waiting beyond the round trips of its handshakes: a server that is slow to accept
 * or to negotiate, an address that does not answer. Connections that were opened meanwhile show whether it was the origin's doing. Those of
 * HTTP/3 do not count: what a network does to UDP alone may hold them up.
 *
 * @param rttMs the origin's round trip
 * @returns milliseconds; 0 where the network explains the recorded times
 */
export function openingDelay(
  { requests }: OriginTimings,
  rttMs: number,
  tlsVersion: ServerProfile['tlsVersion'],
  queuedMs: Queued,
): number {
  const overTcp = requests.filter(({ protocol }) => protocol !== 'h3');
  const [first, ...others] = overTcp.flatMap((request) => openingOf(request, rttMs, tlsVersion, queuedMs));
  if (first === undefined) return 0;
  const meanwhile = others.filter(({ startMs }) => startMs < first.endMs);
  const delayMs = meanwhile.reduce((least, { excessMs }) => Math.min(least, excessMs), first.excessMs);
  return delayMs < MIN_DELAY_MS ? 0 : delayMs;
}

interface Opening {
  startMs: number;
  endMs: number;
  /** Beyond round trips and what the link carried meanwhile. */
  excessMs: number;
}

function openingOf(
  { phases, protocol, url }: RecordedRequest,
  rttMs: number,
  tlsVersion: ServerProfile['tlsVersion'],
  queuedMs: Queued,
): Opening[] {
  const { connectStartMs, connectEndMs } = phases;
  if (connectStartMs === null || connectEndMs === null) return [];
  const tls = url.startsWith('https:') ? tlsVersion : null;
  const tripsMs = handshakeRounds(protocol ?? 'h1', tls).length * rttMs;
  const excessMs = connectEndMs - connectStartMs - tripsMs - queuedMs(connectStartMs, connectEndMs);
  return [{ startMs: connectStartMs, endMs: connectEndMs, excessMs }];
}
