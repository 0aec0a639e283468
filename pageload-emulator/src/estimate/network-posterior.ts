import type { FigureSource, KnownNetwork, NetworkFigure, Recording, UdpShares } from '@hopwise/contract';
import type { Interval, LogDensity } from '../network/log-density.ts';
import { downBpsPrior, LOSS_PRIOR, QUEUE_MS_PRIOR, upBpsPrior } from '../network/priors.ts';
import { refuseUnordered } from '../recording/refuse-unordered.ts';
import { estimateNetwork, type NetworkEstimate } from './estimate-network.ts';
import { AS_NONE } from './fit-loss.ts';
import { fitRecording, pathModel, queueBytesOf } from './fit-recording.ts';
import { roundTrip } from './handshake-rtt.ts';
import { weighLossByLoadTime } from './loss-by-load-time.ts';
import { isShownOpen } from './network-cluster.ts';
import { type NetworkKnowledge, type PosteriorInput, posteriorInput } from './posterior-input.ts';
import { lossBurstDensity } from './random-loss.ts';
import { isRecordedElsewhere } from './recorded-elsewhere.ts';
import { showsLink, type UdpPosterior, udpPosterior } from './udp-evidence.ts';
import { upstreamRate } from './upstream-rate.ts';

/** Numeric figures of the path with a distribution. */
type UncertainFigure = Exclude<NetworkFigure, 'udp'>;

/** Distributions that scenarios are drawn from; units as in `NetworkCluster`. */
export interface PathDensities {
  rttMs: LogDensity;
  upBps: LogDensity;
  queueMs: LogDensity;
  /** Loss events per packet if UDP is not policed. */
  loss: LogDensity;
  /** Loss events per packet if UDP is policed. */
  lossPoliced: LogDensity;
  /** Mean packets lost in one event; its midpoints are possible lengths, the lowest of which is 1. */
  lossBurst: LogDensity;
  /** Downstream rate if UDP is not policed. */
  downBps: LogDensity;
  /** Downstream rate if UDP is policed. */
  downBpsPoliced: LogDensity;
  policedBps: LogDensity;
}

/** Distribution of networks and servers, given a recording and other knowledge. `path` and `servers` are the likeliest ones. */
export interface NetworkPosterior
  extends Pick<NetworkEstimate, 'path' | 'servers' | 'sources' | 'leftOutTrips'> {
  intervals: Record<UncertainFigure, Interval>;
  udp: UdpShares;
  densities: PathDensities;
  given: KnownNetwork;
  /** Whether the link's rate is known by more than responses over HTTP/3. */
  showsLink: boolean;
  /** Whether the load cannot have been recorded on the network whose figures are given. */
  isElsewhere: boolean;
}

/** Quantile of the fitted rate by which queueing is judged: packets queue for less time on a faster link. */
const LINK_SHARE = 0.9;
/** A figure counts as estimated when its posterior spread is at most this share of the prior's. */
const NARROWED = 0.8;

/**
 * Infers network and servers from a recording by Bayes' rule, with the priors of `network/priors.ts`.
 *
 * - Round trips come from handshakes (`roundTrip`), the upstream rate from the first TLS handshake (`upstreamRate`).
 * - Downstream rate, loss, queue and a policer of UDP are fitted by emulating the recording's own transfers on some 15 to 30
 *   networks and comparing the times of all requests with the recording's (`fitRecording`).
 * - Measured figures enter with their error; given ones are certain.
 * - Without responses over HTTP/3, UDP's treatment stays as uncertain as in the prior (`udpPosterior`).
 *
 * @param estimate the recording's, if it was made before
 * @throws InputError naming the place where a recording made by hand is not in order
 */
export function networkPosterior(
  recording: Recording,
  knowledge: NetworkKnowledge = {},
  estimate: NetworkEstimate = estimateNetwork(recording),
): NetworkPosterior {
  refuseUnordered(recording);
  const input = posteriorInput(recording, knowledge, estimate);
  const { given, measured } = input;
  const rtt = roundTrip(input);
  const rttMs = given.rttMs ?? measured.rttMs ?? rtt.density.quantile(0.5);
  const pathAt = pathModel(input, rttMs);
  const replayed = fitRecording(input, rttMs, pathAt);
  const fit = { ...replayed, loss: weighLossByLoadTime(input, replayed, pathAt) };
  const udp = udpPosterior(input, fit, pathAt);
  const downBps = given.downBps ?? udp.downBps.quantile(0.5);
  const upBps = upstreamRate(input, downBps);
  const burst = lossBurstDensity(input);
  const lossBurst = given.lossBurst ?? burst.midpoint(0.5);
  const isElsewhere = isRecordedElsewhere(recording, estimate, given);
  return {
    path: {
      rttMs,
      downBps,
      upBps: given.upBps ?? upBps.quantile(0.5),
      loss: given.loss ?? lossBurst * udp.loss.quantile(0.5),
      lossBurst,
      queueBytes: given.queueBytes ?? queueBytesOf(fit.queueMs.quantile(0.5), downBps),
      udp: udp.treatment,
    },
    servers: serversOf(input, udp.downBps, isElsewhere),
    sources: sourcesOf(
      input,
      {
        rttMs: estimate.sources.rttMs === 'estimated',
        downBps: isNarrowed(udp.downBps, downBpsPrior(rttMs)),
        upBps: isNarrowed(upBps, upBpsPrior(downBps)),
        loss: isNarrowed(udp.loss, LOSS_PRIOR),
        lossBurst: false,
        queueBytes: isNarrowed(fit.queueMs, QUEUE_MS_PRIOR),
        udp: estimate.sources.udp === 'estimated',
      },
      udp,
    ),
    intervals: intervalsOf(given, {
      rttMs: rtt.interval,
      downBps: udp.downBps.interval,
      upBps: upBps.interval,
      loss: lossInterval(udp.loss, lossBurst),
      lossBurst: { low: burst.midpoint(0.1), median: lossBurst, high: burst.midpoint(0.9) },
      queueBytes: scaled(fit.queueMs.interval, downBps / 8000),
    }),
    udp: udp.shares,
    densities: {
      rttMs: rtt.density,
      upBps,
      queueMs: fit.queueMs,
      loss: fit.loss,
      lossPoliced: fit.policed.loss,
      lossBurst: burst,
      downBps: fit.downBps,
      downBpsPoliced: fit.policed.downBps,
      policedBps: udp.policedBps,
    },
    given,
    showsLink: showsLink(input),
    isElsewhere,
    leftOutTrips: estimate.leftOutTrips,
  };
}

/**
 * The servers. Where arrivals alone do not show a full link, round trips and waits are judged again by the link's rate, as
 * packets may have queued nevertheless: a repaired loss lets bytes arrive at once, faster than the link.
 */
function serversOf(
  { estimate, given }: PosteriorInput,
  fitted: LogDensity,
  isElsewhere: boolean,
): NetworkPosterior['servers'] {
  if (given.downBps !== undefined) return isElsewhere ? estimate.servers : estimate.serversOn(given.downBps);
  return estimate.isFilled ? estimate.servers : estimate.serversOn(fitted.quantile(LINK_SHARE));
}

/** The source of each figure of the path. @param isEstimated whether the recording shows it */
function sourcesOf(
  { given, measured, udp: knownUdp }: PosteriorInput,
  isEstimated: Record<NetworkFigure, boolean>,
  udp: UdpPosterior,
): Record<NetworkFigure, FigureSource> {
  const isMeasured = (figure: NetworkFigure) =>
    figure === 'lossBurst' ? measured.loss?.lost !== undefined : measured[figure] !== undefined;
  const sources = {} as Record<NetworkFigure, FigureSource>;
  for (const figure of Object.keys(isEstimated) as NetworkFigure[]) {
    sources[figure] = isEstimated[figure] ? 'estimated' : 'assumed';
    if (isMeasured(figure)) sources[figure] = 'measured';
    if (given[figure] !== undefined) sources[figure] = 'given';
  }
  // The measurement showed only that UDP is not blocked; the policer comes from the fit.
  if (knownUdp === undefined && udp.treatment.kind === 'policed') sources.udp = 'estimated';
  // The load itself shows nothing of UDP, but earlier ones have.
  if (sources.udp === 'assumed' && (isShownOpen({ udp: udp.shares }) || udp.shares.blocked > 0.5))
    sources.udp = 'estimated';
  return sources;
}

/** The intervals of the path's figures; what is given is certain. */
function intervalsOf(
  given: KnownNetwork,
  inferred: NetworkPosterior['intervals'],
): NetworkPosterior['intervals'] {
  const intervals = { ...inferred };
  for (const figure of Object.keys(inferred) as UncertainFigure[]) {
    const value = given[figure];
    if (value !== undefined) intervals[figure] = { low: value, median: value, high: value };
  }
  return intervals;
}

function isNarrowed(density: LogDensity, prior: LogDensity): boolean {
  return density.moments.spread <= NARROWED * prior.moments.spread;
}

/** From 0 where timings do not distinguish the lower end from no loss. */
function lossInterval(events: LogDensity, burst: number): Interval {
  const interval = scaled(events.interval, burst);
  return events.interval.low < AS_NONE ? { ...interval, low: 0 } : interval;
}

function scaled({ low, median, high }: Interval, factor: number): Interval {
  return { low: low * factor, median: median * factor, high: high * factor };
}
