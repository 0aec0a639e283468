import {
  type FigureSource,
  median,
  type NetworkFigure,
  type NetworkPath,
  type RecordedRequest,
  type Recording,
  type ServerProfile,
} from '@hopwise/contract';
import { MIN_ASSUMED_QUEUE_BYTES, MIN_RECORDED_RTT_MS } from '../network/bounds.ts';
import { defaultServer } from '../network/server-defaults.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { handshakeTrips } from '../recording/handshake-trips.ts';
import { busyRate, linkRate, MIN_FILLING_BYTES } from '../recording/link-rate.ts';
import { type OriginTimings, timingsByOrigin, waitOf } from '../recording/origin-timings.ts';
import { pathRoundTrip } from '../recording/path-round-trip.ts';
import { connectionGroups } from './connection-groups.ts';
import { extraRtts, type Queued } from './extra-rtts.ts';
import { initialWindow } from './initial-window.ts';
import { lossFromStalls, lossUnseen, stallsOf } from './loss-from-stalls.ts';
import { openingDelay } from './opening-delay.ts';
import { honoursPriorities, priorityVotes, sumOfVotes } from './priority-evidence.ts';

/** A network and its servers as one recording shows them, and the source of each figure. */
export interface NetworkEstimate {
  path: NetworkPath;
  /** One for each origin, in order of first use. */
  servers: ServerProfile[];
  /**
   * The servers if the link's downstream rate is known from elsewhere, bits per second: round trips and waits are then judged by how
   * long packets may have queued on such a link.
   */
  serversOn: (linkBps: number) => ServerProfile[];
  sources: Record<NetworkFigure, FigureSource>;
  /** Whether the page filled the link for a while, as its arrivals show. */
  isFilled: boolean;
  /** Number of round trips that were left out, as they disagree with several handshakes. */
  leftOutTrips: number;
}

// Assumed when the recording shows nothing: an ordinary fixed line.
const ASSUMED_RTT_MS = 40;
const ASSUMED_DOWN_BPS = 20e6;
const ASSUMED_UP_SHARE = 0.25;
const MIN_UP_BPS = 1e6;
/** Most servers of static files answer within this; a longer wait comes from a crowded link, unless a server's shortest one does (`slowServers`). */
export const MAX_STATIC_THINK_MS = 150;
const MIN_QUEUE_MS = 100;

/**
 * Estimates path and servers from a recording's timings, without emulation.
 *
 * - The round trip of the nearest origin is the path's, the rest is the origin's extra (`extraRtts`).
 * - The downstream rate is the highest sustained over a few round trips: a lower bound when the page never filled the link.
 * - Loss comes from stalled responses if there are several; else it is the mean of a prior updated by the packets that came
 *   without a stall. The queue is that of typical access links, the upstream rate a quarter of the downstream one.
 * - UDP is taken to be open.
 * - An unusual initial window shows in the first response on a new connection (`initialWindow`). QUIC's is that of quic-go where HTTP/3
 *   is on offer, else TCP's.
 * - Origins served by one connection share connections (`connectionGroups`).
 * - An origin offers h3 if it used it or announced it (`Alt-Svc`), and h2 unless it used only h1.
 */
export function estimateNetwork(recording: Recording): NetworkEstimate {
  const origins = [...timingsByOrigin(recording).values()];
  const shown = pathRoundTrip(origins);
  const rttMs = Math.max(MIN_RECORDED_RTT_MS, shown.rttMs ?? ASSUMED_RTT_MS);
  const typicalRttMs = Math.max(rttMs, shown.typicalMs ?? rttMs);
  const rttOf = (timings: OriginTimings) =>
    timings.rttMs !== null && timings.fromHandshake
      ? Math.max(rttMs, timings.rttMs)
      : Math.max(rttMs, Math.min(timings.rttMs ?? typicalRttMs, typicalRttMs));

  const arrivals = new ArrivalCurve(recording.requests);
  const windowMs = Math.max(200, 4 * rttMs);
  const byOrigin = new Map(origins.map((timings) => [timings.origin, rttOf(timings)]));
  const held = busyRate(arrivals, windowMs);
  const stalls = stallsOf(
    recording,
    arrivals,
    (origin) => byOrigin.get(origin) ?? rttMs,
    held ?? ASSUMED_DOWN_BPS,
  );
  const loss = lossFromStalls(stalls);
  const rate = linkRate(arrivals, windowMs, loss !== null);
  const downBps = Math.max(rate?.bps ?? ASSUMED_DOWN_BPS, 50_000);
  const udpSeen = recording.requests.some(({ protocol }) => protocol === 'h3');
  const isFilled = rate?.filled === true && arrivals.total >= MIN_FILLING_BYTES;
  const groups = connectionGroups(recording);
  const votes = origins.map(({ requests }) => priorityVotes(requests));
  const pageHonours = honoursPriorities(sumOfVotes(votes));
  const serversAt = (queueingBps: number, arrivalBps: number) => {
    const queuedMs = (fromMs: number, toMs: number) => arrivals.transmission(fromMs, toMs, queueingBps);
    const extraRttMs = extraRtts(origins, rttMs, queuedMs);
    return origins.map((timings, index) => {
      const connectionGroup = groups.get(timings.origin);
      const prioritises = honoursPriorities(votes[index]!) ?? pageHonours;
      return {
        ...profileOf(timings, rttMs, extraRttMs[index]!, arrivalBps, queuedMs),
        // Where packets are lost, those of handshakes are too.
        ...(loss !== null && { openingDelayMs: 0 }),
        ...(timings.tcpEndsNearby && { tcpEndsNearby: true }),
        ...(connectionGroup !== undefined && { connectionGroup }),
        ...(prioritises !== null && { prioritises }),
      };
    });
  };
  return {
    path: {
      rttMs,
      downBps,
      upBps: Math.max(MIN_UP_BPS, downBps * ASSUMED_UP_SHARE),
      loss: loss ?? lossUnseen(stalls.packets),
      lossBurst: 1,
      queueBytes: assumedQueueBytes(downBps, typicalRttMs),
      udp: { kind: 'open' },
    },
    isFilled,
    leftOutTrips: origins.reduce((sum, { leftOut }) => sum + leftOut, 0),
    // No packets queue on a link that the page never filled.
    servers: serversAt(isFilled ? downBps : Number.POSITIVE_INFINITY, downBps),
    serversOn: (linkBps) => serversAt(linkBps, linkBps),
    sources: {
      rttMs: shown.rttMs !== null ? 'estimated' : 'assumed',
      downBps: rate !== null ? 'estimated' : 'assumed',
      upBps: 'assumed',
      loss: loss === null ? 'assumed' : 'estimated',
      lossBurst: 'assumed',
      queueBytes: 'assumed',
      udp: udpSeen ? 'estimated' : 'assumed',
    },
  };
}

/**
 * Returns the assumed queue of a bottleneck, bytes: a bandwidth-delay product, but at least 100 ms at its rate (Kreibich et al., "Netalyzr", IMC 2010, section 5.2: most buffer 100 ms and more).
 */
function assumedQueueBytes(downBps: number, rttMs: number): number {
  return Math.max(MIN_ASSUMED_QUEUE_BYTES, Math.round((downBps / 8000) * Math.max(rttMs, MIN_QUEUE_MS)));
}

function profileOf(
  timings: OriginTimings,
  pathRttMs: number,
  extraRttMs: number,
  downBps: number,
  queuedMs: Queued,
): ServerProfile {
  const originRttMs = pathRttMs + extraRttMs;
  const profile = defaultServer(timings.origin);
  const { requests } = timings;
  // Documents, frames and API calls have think times of their own in the page graph.
  const fixed = requests.filter(({ type }) => type !== 'document' && type !== 'iframe' && type !== 'fetch');
  const waits = (fixed.length > 0 ? fixed : requests).flatMap((request) => {
    const waitMs = waitOf(request);
    if (waitMs === null) return [];
    const { requestStartMs, responseStartMs } = request.phases;
    return waitMs - queuedMs(requestStartMs!, responseStartMs!);
  });
  const dns = requests.flatMap((request) => {
    const { dnsStartMs, dnsEndMs } = request.phases;
    return dnsStartMs !== null && dnsEndMs !== null ? [dnsEndMs - dnsStartMs] : [];
  });
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
    // The shortest wait: the others also waited for the recorder's browser.
    thinkMs: Math.min(MAX_STATIC_THINK_MS, Math.max(0, (minimum(waits) ?? 0) - originRttMs)),
    dnsMs: dns.length > 0 ? Math.max(0, median(dns)) : 0,
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
