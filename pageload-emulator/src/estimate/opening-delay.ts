import type { RecordedRequest, ServerProfile } from '@hopwise/contract';
import type { OriginTimings } from '../recording/origin-timings.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import { OWN_TIME_MS, type Queued } from './extra-rtts.ts';

/** A connection was held up where it took this much longer than its round trips, milliseconds: less than the 1000 after which a SYN is repeated (RFC 6298 section 2). */
const MIN_DELAY_MS = 750;
/**
 * Browsers wait for 250 to 300 ms for an address that does not answer before they try one of the other family (RFC 8305 section 5; Chromium's
 * `kIPv6FallbackTimer`, Firefox' `network.http.fallback_connection_timeout`). No lost SYN is repeated so soon.
 */
const MIN_FALLBACK_MS = 200;
/**
 * A server is slow to negotiate, or its certificate to check, where TLS took this much longer than its round trips and the usual time of processors,
 * milliseconds; assumed.
 */
const MIN_TLS_MS = 20;
/** A full queue holds up TLS and TCP alike: neither an address nor a server was the cause where the other one's delay exceeds this share. */
const MAX_OTHER_SHARE = 0.25;

/**
 * Finds for how long an origin kept its first connection waiting beyond the round trips of its handshakes: a server that is slow to accept
 * or to negotiate, a certificate that takes long to check, an address that does not answer. Connections that were opened meanwhile show
 * whether it was the origin's doing. Those of HTTP/3 do not count: what a network does to UDP alone may hold them up.
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
  if (fallbackMs >= MIN_FALLBACK_MS) return fallbackMs;
  const tlsMs = least((opening) => opening.tlsMs);
  return tlsMs >= MIN_TLS_MS ? tlsMs : 0;
}

/** Times beyond round trips and what the link carried meanwhile, milliseconds. */
interface Opening {
  startMs: number;
  endMs: number;
  excessMs: number;
  /** That of TCP where TLS was not held up; 0 where the recording does not separate the two. */
  fallbackMs: number;
  /** That of TLS where TCP was not held up, or of both where the recording does not separate them, beyond the usual time of processors; 0 without TLS. */
  tlsMs: number;
}

function openingOf(
  { phases, protocol, url }: RecordedRequest,
  rttMs: number,
  tlsVersion: ServerProfile['tlsVersion'],
  queuedMs: Queued,
): Opening[] {
  const { connectStartMs, secureStartMs, connectEndMs } = phases;
  if (connectStartMs === null || connectEndMs === null) return [];
  const isSecure = url.startsWith('https:');
  const rounds = handshakeRounds(protocol ?? 'h1', isSecure ? tlsVersion : null).length;
  const excess = (fromMs: number, toMs: number, trips: number) =>
    toMs - fromMs - trips * rttMs - queuedMs(fromMs, toMs);
  const excessMs = excess(connectStartMs, connectEndMs, rounds);
  const opening = { startMs: connectStartMs, endMs: connectEndMs, excessMs };
  if (!isSecure) return [{ ...opening, fallbackMs: 0, tlsMs: 0 }];
  if (secureStartMs === null) return [{ ...opening, fallbackMs: 0, tlsMs: excessMs - OWN_TIME_MS.tls }];
  const tcpMs = excess(connectStartMs, secureStartMs, 1);
  const tlsMs = excess(secureStartMs, connectEndMs, rounds - 1) - OWN_TIME_MS.tls;
  return [
    {
      ...opening,
      fallbackMs: tlsMs <= MAX_OTHER_SHARE * tcpMs ? tcpMs : 0,
      tlsMs: tcpMs <= MAX_OTHER_SHARE * tlsMs ? tlsMs : 0,
    },
  ];
}
