import type { FigureSource, NetworkFigure, NetworkPath, Recording, ServerProfile } from '@hopwise/contract';
import { MIN_ASSUMED_QUEUE_BYTES, MIN_RECORDED_RTT_MS } from '../network/bounds.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { busyRate, linkRate, MIN_FILLING_BYTES } from '../recording/link-rate.ts';
import { type OriginTimings, timingsByOrigin } from '../recording/origin-timings.ts';
import { pathRoundTrip } from '../recording/path-round-trip.ts';
import { connectionGroups } from './connection-groups.ts';
import { extraRtts } from './extra-rtts.ts';
import { lossFromStalls, lossUnseen, stallsOf } from './loss-from-stalls.ts';
import { honoursPriorities, priorityVotes, sumOfVotes } from './priority-evidence.ts';
import { serverProfile } from './server-profile.ts';

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
  /** Number of round trips that were left out, as they disagree with handshakes. */
  leftOutTrips: number;
}

// Assumed when the recording shows nothing: an ordinary fixed line.
const ASSUMED_RTT_MS = 40;
const ASSUMED_DOWN_BPS = 20e6;
const ASSUMED_UP_SHARE = 0.25;
const MIN_UP_BPS = 1e6;
/** The lowest rate of the prior (`downBpsPrior`). */
const MIN_DOWN_BPS = 50_000;
/** Time over which a rate must last to count (`busyRate`): this many round trips, and on short paths at least so long. Assumed. */
const RATE_WINDOW_RTTS = 4;
const MIN_RATE_WINDOW_MS = 200;
const MIN_QUEUE_MS = 100;

/**
 * Estimates path and servers from a recording's timings, without emulation.
 *
 * - The round trip of the nearest origin is the path's, the rest is the origin's extra (`extraRtts`).
 * - The downstream rate is the highest sustained over a few round trips: a lower bound when the page never filled the link.
 * - Loss comes from stalled responses if there are several; else it is the mean of a prior updated by the packets that came
 *   without a stall. The queue is that of typical access links, the upstream rate a quarter of the downstream one.
 * - UDP is taken to be open.
 * - Each origin has a server (`serverProfile`); origins served by one connection share connections (`connectionGroups`).
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
  const windowMs = Math.max(MIN_RATE_WINDOW_MS, RATE_WINDOW_RTTS * rttMs);
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
  const downBps = Math.max(rate?.bps ?? ASSUMED_DOWN_BPS, MIN_DOWN_BPS);
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
        ...serverProfile(timings, {
          pathRttMs: rttMs,
          extraRttMs: extraRttMs[index]!,
          downBps: arrivalBps,
          queuedMs,
        }),
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
