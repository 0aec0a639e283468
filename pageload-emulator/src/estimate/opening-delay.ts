import type { RecordedRequest, ServerProfile } from '@hopwise/contract';
import type { OriginTimings } from '../recording/origin-timings.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import type { Queued } from './extra-rtts.ts';

/** A connection was held up where it took this much longer than its round trips, milliseconds: less than the 1000 after which a SYN is repeated (RFC 6298 section 2). */
const MIN_DELAY_MS = 750;
/**
 * Browsers wait for 250 to 300 ms for an address that does not answer before they try one of the other family (RFC 8305 section 5; Chromium's
 * `kIPv6FallbackTimer`, Firefox' `network.http.fallback_connection_timeout`). No lost SYN is repeated so soon.
 */
const MIN_FALLBACK_MS = 200;
/** A full queue holds up TLS as much as TCP: where the delay of TLS exceeds this share of TCP's, the address was not the cause. */
const MAX_TLS_SHARE = 0.25;

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
  const least = (of: (opening: Opening) => number) =>
    meanwhile.reduce((ms, opening) => Math.min(ms, of(opening)), of(first));
  const delayMs = least(({ excessMs }) => excessMs);
  if (delayMs >= MIN_DELAY_MS) return delayMs;
  const fallbackMs = least((opening) => opening.fallbackMs);
  return fallbackMs < MIN_FALLBACK_MS ? 0 : fallbackMs;
}

interface Opening {
  startMs: number;
  endMs: number;
  /** Beyond round trips and what the link carried meanwhile. */
  excessMs: number;
  /** That of TCP; 0 where TLS was held up too, or where the recording does not separate the two. */
  fallbackMs: number;
}

function openingOf(
  { phases, protocol, url }: RecordedRequest,
  rttMs: number,
  tlsVersion: ServerProfile['tlsVersion'],
  queuedMs: Queued,
): Opening[] {
  const { connectStartMs, secureStartMs, connectEndMs } = phases;
  if (connectStartMs === null || connectEndMs === null) return [];
  const tls = url.startsWith('https:') ? tlsVersion : null;
  const rounds = handshakeRounds(protocol ?? 'h1', tls).length;
  const queueMs = queuedMs(connectStartMs, connectEndMs);
  const excessMs = connectEndMs - connectStartMs - rounds * rttMs - queueMs;
  const tcpMs = secureStartMs === null ? 0 : secureStartMs - connectStartMs - rttMs - queueMs;
  const isSound = excessMs - tcpMs <= MAX_TLS_SHARE * tcpMs;
  return [{ startMs: connectStartMs, endMs: connectEndMs, excessMs, fallbackMs: isSound ? tcpMs : 0 }];
}
