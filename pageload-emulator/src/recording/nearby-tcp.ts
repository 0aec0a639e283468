import { groupBy, type RecordedRequest } from '@hopwise/contract';
import { originOf } from '../util/url.ts';
import { showsResolution } from './handshake-trips.ts';

/** A round trip on the machine or its own network, milliseconds; a browser's clock and a busy machine count in it. Assumed. */
const MAX_NEARBY_MS = 10;
/** What goes further takes at least so many times as long. */
const MIN_TIMES = 5;
/** TLS takes processor time besides its round trip; less than this, milliseconds, shows no distance. */
const MIN_TLS_MS = 30;
/** The shortest answer takes as long as TLS 1.3, or half as long as TLS 1.2, each with some time of the server's: else TLS or the server is slow. */
const MIN_WAIT_SHARE = 0.4;
const MAX_WAIT_SHARE = 1.5;
/** Fewer answers may all have been computed. */
const MIN_WAITS = 5;

/** What an origin's requests over TCP show of the way to it, milliseconds. */
interface Way {
  origin: string;
  /** The longest handshake of TCP, the shortest one of TLS, the shortest answer. */
  tcpMs: number;
  tlsMs: number;
  waitMs: number;
  waits: number;
}

/**
 * Finds the origins to which TCP connections end near by, at a proxy or the tunnel of a VPN (SOCKS, TUN), which answers SYNs itself: TCP takes no
 * time to speak of, but TLS, which goes through to the server, and each answer take several times as long, and agree. TCP's handshake then
 * shows nothing of the way to the server, and costs no round trip. That of a connection which may have been under way before its request, as
 * after a preconnect, is cut off and shows nothing.
 */
export function findNearbyTcp(requests: readonly RecordedRequest[]): ReadonlySet<string> {
  const overTcp = requests.filter(({ protocol }) => protocol === 'h1' || protocol === 'h2');
  const ways = [...groupBy(overTcp, ({ url }) => originOf(url))].flatMap(([origin, own]) =>
    origin === null ? [] : readWay(origin, own),
  );
  const nearby = ways.filter(({ tcpMs, tlsMs, waitMs }) => {
    const leastMs = Math.max(MIN_TLS_MS, MIN_TIMES * tcpMs);
    const isAgreed = waitMs >= MIN_WAIT_SHARE * tlsMs && waitMs <= MAX_WAIT_SHARE * tlsMs;
    return tcpMs <= MAX_NEARBY_MS && Math.min(tlsMs, waitMs) >= leastMs && isAgreed;
  });
  const waits = nearby.reduce((sum, way) => sum + way.waits, 0);
  return new Set(waits < MIN_WAITS ? [] : nearby.map(({ origin }) => origin));
}

function readWay(origin: string, requests: readonly RecordedRequest[]): Way[] {
  const opened = requests.flatMap(({ phases: { connectStartMs, secureStartMs, connectEndMs } }) =>
    connectStartMs === null || secureStartMs === null || connectEndMs === null
      ? []
      : { tcpMs: secureStartMs - connectStartMs, tlsMs: connectEndMs - secureStartMs },
  );
  const waitsMs = requests.flatMap(({ fromCache, transferBytes, phases }) => {
    const { requestStartMs, responseStartMs } = phases;
    if (fromCache || transferBytes === 0 || requestStartMs === null || responseStartMs === null) return [];
    return responseStartMs - requestStartMs;
  });
  if (opened.length === 0 || waitsMs.length === 0 || !requests.some(showsResolution)) return [];
  const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));
  return [
    {
      origin,
      tcpMs: opened.reduce((most, { tcpMs }) => Math.max(most, tcpMs), 0),
      tlsMs: least(opened.map(({ tlsMs }) => tlsMs)),
      waitMs: least(waitsMs),
      waits: waitsMs.length,
    },
  ];
}
