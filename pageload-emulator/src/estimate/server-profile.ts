import { median, type RecordedRequest, type ServerProfile } from '@hopwise/contract';
import { defaultServer } from '../network/server-defaults.ts';
import { handshakeTrips } from '../recording/handshake-trips.ts';
import { type OriginTimings, waitOf } from '../recording/origin-timings.ts';
import type { Queued } from './extra-rtts.ts';
import { initialWindow } from './initial-window.ts';
import { openingDelay } from './opening-delay.ts';

/** Most servers of static files answer within this; a longer wait comes from a crowded link, unless a server's shortest one does (`slowServers`). */
export const MAX_STATIC_THINK_MS = 150;

/** The link that leads to a server. */
interface PathToServer {
  /** Round trip to the nearest origin, and what this one's takes beyond it; milliseconds. */
  pathRttMs: number;
  extraRttMs: number;
  /** Rate at which the responses arrived, bits per second. */
  downBps: number;
  queuedMs: Queued;
}

/**
 * Reads a server from the timings of its origin.
 *
 * - An unusual initial window shows in the first response on a new connection (`initialWindow`). QUIC's is that of quic-go where HTTP/3
 *   is on offer, else TCP's.
 * - An origin offers h3 if it used it or announced it (`Alt-Svc`), and h2 unless it used only h1.
 */
export function serverProfile(timings: OriginTimings, path: PathToServer): ServerProfile {
  const { pathRttMs, extraRttMs, downBps, queuedMs } = path;
  const { requests } = timings;
  const originRttMs = pathRttMs + extraRttMs;
  const profile = defaultServer(timings.origin);
  const seen = (protocol: RecordedRequest['protocol']) =>
    requests.some((request) => request.protocol === protocol);
  // An offer over plain HTTP is for the https origin of the same host: browsers use HTTP/3 for https only.
  const isAnnounced = requests.some((request) => request.offersH3 === true);
  const announcesH3 = profile.offers.h2 && isAnnounced;
  const offersH3 = seen('h3') || announcesH3;
  const window = initialWindow(requests, originRttMs, downBps) ?? profile.tcp.initialWindow;
  const tlsVersion = usesTls12(timings, queuedMs) ? '1.2' : '1.3';
  return {
    ...profile,
    tcp: { ...profile.tcp, initialWindow: window },
    // Nothing says that a server without HTTP/3 would begin faster over it than over TCP (RFC 9002 section 7.2 recommends 10).
    quic: { ...profile.quic, initialWindow: offersH3 ? profile.quic.initialWindow : window },
    extraRttMs,
    thinkMs: staticThinkMs(requests, originRttMs, queuedMs),
    dnsMs: nameLookupMs(requests),
    openingDelayMs: openingDelay(timings, originRttMs, tlsVersion, queuedMs),
    tlsVersion,
    // A server that is not known to speak HTTP/3 would announce it, or browsers would never use it.
    ...(isSilentOverH3(requests) && !isAnnounced && { announcesH3: false }),
    offers: {
      h1: true,
      h2: profile.offers.h2 && (seen('h2') || offersH3 || !seen('h1')),
      h3: profile.offers.h3 || offersH3,
    },
  };
}

/** A server's time for a static file, milliseconds. */
function staticThinkMs(requests: readonly RecordedRequest[], rttMs: number, queuedMs: Queued): number {
  // Documents, frames and API calls have think times of their own in the page graph.
  const fixed = requests.filter(({ type }) => type !== 'document' && type !== 'iframe' && type !== 'fetch');
  const waits = (fixed.length > 0 ? fixed : requests).flatMap((request) => {
    const waitMs = waitOf(request);
    if (waitMs === null) return [];
    const { requestStartMs, responseStartMs } = request.phases;
    return waitMs - queuedMs(requestStartMs!, responseStartMs!);
  });
  // The shortest wait: the others also waited for the recorder's browser.
  return Math.min(MAX_STATIC_THINK_MS, Math.max(0, (minimum(waits) ?? 0) - rttMs));
}

/** Median time of the lookups of an origin's name, milliseconds; 0 where none was recorded. */
function nameLookupMs(requests: readonly RecordedRequest[]): number {
  const lookups = requests.flatMap(({ phases: { dnsStartMs, dnsEndMs } }) =>
    dnsStartMs !== null && dnsEndMs !== null ? [dnsEndMs - dnsStartMs] : [],
  );
  return lookups.length > 0 ? Math.max(0, median(lookups)) : 0;
}

/** Whether responses over HTTP/3 came without an offer of it, as to a browser that is forced to use it. */
const isSilentOverH3 = (requests: readonly RecordedRequest[]): boolean =>
  requests.some(({ protocol, offersH3 }) => protocol === 'h3' && offersH3 === false);

/** On shorter round trips the key exchange's processor time looks like a round trip. */
const MIN_RTT_OF_TLS_12_MS = 20;
/** A TLS handshake of more round trips met a loss or a full queue, and shows nothing. */
const MAX_TLS_TRIPS = 3;

/** TLS 1.2 takes two round trips after TCP's one (RFC 5246 section 7.3), TLS 1.3 one (RFC 8446 section 2). */
function usesTls12({ requests, rttMs }: OriginTimings, queuedMs: Queued): boolean {
  const trips = requests.flatMap((request) => {
    const [tcp, tls] = handshakeTrips(request, true);
    if (tcp === undefined || tls === undefined || rttMs === null) return [];
    const tcpMs = Math.max(tcp.rttMs, rttMs);
    if (tcpMs < MIN_RTT_OF_TLS_12_MS) return [];
    return [(tls.rttMs - queuedMs(tls.endMs - tls.rttMs, tls.endMs)) / tcpMs];
  });
  // Delays only make handshakes longer.
  const minTrips = minimum(trips) ?? 1;
  return minTrips > 1.7 && minTrips < MAX_TLS_TRIPS;
}

function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b));
}
