import type { RecordedRequest } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/** A round trip on the machine or its own network, milliseconds; a browser's clock and a busy machine count in it. Assumed. */
const MAX_NEARBY_MS = 10;
/** What goes further takes at least so many times as long. */
const MIN_TIMES = 5;
/** TLS takes processor time besides its round trip; less than this, milliseconds, shows no distance. */
const MIN_TLS_MS = 30;
/** One origin may have a slow server near by; several show what lies between. */
const MIN_ORIGINS = 2;

/**
 * Whether TCP connections end near by, at a proxy or the tunnel of a VPN (SOCKS, TUN), which answers SYNs itself: to every origin TCP takes no
 * time to speak of, but TLS, which goes through to the server, and each answer take several times as long. TCP's handshake then shows
 * nothing of the way to the server, and costs no round trip.
 */
export function tcpEndsNearby(requests: readonly RecordedRequest[]): boolean {
  const overTcp = requests.filter(({ protocol }) => protocol === 'h1' || protocol === 'h2');
  const opened = overTcp.flatMap(({ url, phases }) => {
    const { connectStartMs, secureStartMs, connectEndMs } = phases;
    if (connectStartMs === null || secureStartMs === null || connectEndMs === null) return [];
    return {
      origin: originOf(url),
      tcpMs: secureStartMs - connectStartMs,
      tlsMs: connectEndMs - secureStartMs,
    };
  });
  const tcpMs = opened.reduce((most, opening) => Math.max(most, opening.tcpMs), 0);
  const leastMs = Math.max(MIN_TLS_MS, MIN_TIMES * tcpMs);
  return (
    tcpMs <= MAX_NEARBY_MS &&
    new Set(opened.map(({ origin }) => origin)).size >= MIN_ORIGINS &&
    opened.every(({ tlsMs }) => tlsMs >= leastMs) &&
    overTcp.every(({ fromCache, transferBytes, phases: { requestStartMs, responseStartMs } }) => {
      if (fromCache || transferBytes === 0 || requestStartMs === null || responseStartMs === null)
        return true;
      return responseStartMs - requestStartMs >= leastMs;
    })
  );
}
