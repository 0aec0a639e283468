import type {
  FigureSource,
  KnownNetwork,
  KnownServer,
  MeasuredNetwork,
  NetworkFigure,
  NetworkPath,
  Protocol,
  RecordedRequest,
  Recording,
  ServerProfile,
  UdpShares,
  UdpTreatment,
} from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { type Interval, LogDensity, logGrid, logNormal } from '../network/log-density.ts';
import {
  downBpsPrior,
  LOSS_BURST_PRIOR,
  LOSS_PRIOR,
  POLICED_BPS_PRIOR,
  QUEUE_MS_PRIOR,
  RTT_MS_PRIOR,
  UDP_PRIOR,
  upBpsPrior,
} from '../network/priors.ts';
import { originOf } from '../util/url.ts';
import { estimateNetwork, type NetworkEstimate } from './estimate-network.ts';
import { AS_NONE } from './fit-loss.ts';
import { fitPath, type PathAt, type PathFit } from './fit-path.ts';
import {
  type HandshakeTransport,
  handshakeTransport,
  MIN_RTT_MS,
  rttFromHandshake,
} from './handshake-rtt.ts';
import { loadTimeLikelihood } from './load-time-evidence.ts';
import { mixFits, posteriorOf } from './mix-fits.ts';
import { ClusterPrior, type NetworkCluster } from './network-cluster.ts';
import type { NetworkPosterior, UncertainFigure } from './network-posterior.ts';
import { randomLoss } from './random-loss.ts';
import { isRecordedElsewhere } from './recorded-elsewhere.ts';
import { Replay } from './replay.ts';
import { upstreamRate } from './upstream-rate.ts';
import { assumeProtocols } from './withheld-protocols.ts';

/** Knowledge of the network besides the recording. */
export interface Knowledge {
  /** Figures that are certain. */
  given?: KnownNetwork | undefined;
  /** Figures that real transfers showed; `given` takes precedence. */
  measured?: MeasuredNetwork | undefined;
  /** Known fields of single servers; they replace the estimated ones. */
  servers?: readonly KnownServer[] | undefined;
  /** What earlier loads on the same network showed; its weight declines with its age at the recording. */
  cluster?: NetworkCluster | null | undefined;
}

/** Quantile of the fitted rate by which queueing is judged: packets queue for less time on a faster link. */
const LINK_SHARE = 0.9;
/** Error of measured figures: standard deviation of the logarithm. */
const MEASURED = { rttMs: 0.03, downBps: 0.08, upBps: 0.1, queueBytes: 0.2, policedBps: 0.25 };
/** Counted losses weigh as at most this many events, as loss changes from minute to minute; assumed. */
const MAX_LOSS_EVENTS = 8;
/** Probability that a single loss is counted as a burst: two losses in one flight look like one. Assumed. */
const MIN_FURTHER = 0.05;
/** Share of a reached rate that is taken as the lower bound: it may have been measured a little high. */
const REACHED = 0.9;
/** Error of round trips from handshakes, which include processor time, and from waits, which include server time. */
const HANDSHAKE_SPREAD = 0.03;
const WAIT_SPREAD = 0.3;
/** Likelihood ratio for blocked UDP by each origin whose HTTP/3 offer went unused, and how many count at most; assumed. */
const UNUSED_OFFER_RATIO = 2;
const MAX_UNUSED_OFFERS = 3;
/** Within this time a browser has tried an HTTP/3 offer. */
const TRIED_AFTER_MS = 500;
/** Quantiles of loss and of a policer's rate over which the likelihood of the load time is averaged. */
const LOAD_TIME_SHARES = [0.15, 0.5, 0.85];
/** A figure counts as estimated when its posterior spread is at most this share of the prior's. */
const NARROWED = 0.8;

/**
 * Infers network and servers from a recording by Bayes' rule, with the priors of `network/priors.ts`.
 *
 * - Round trips come from handshakes (`estimateNetwork`), the upstream rate from the first TLS handshake (`upstreamRate`).
 * - Downstream rate, loss, queue and a policer of UDP are fitted by emulating the recording's own transfers on some 15 to 35
 *   networks and comparing the times of all requests with the recording's (`fitPath`).
 * - Measured figures enter with their error; given ones are certain.
 * - Without responses over HTTP/3, UDP's treatment stays as uncertain as in the prior.
 *
 * @param graph the recording's page graph, to separate random loss from queue drops in measured loss
 */
export function networkPosterior(
  recording: Recording,
  graph: PageGraph,
  knowledge: Knowledge = {},
): NetworkPosterior {
  return new PosteriorBuilder(recording, graph, knowledge).build();
}

interface RecordedFit extends PathFit {
  /** Probability that the browser used no offer of HTTP/3 where the recording withholds what it did. */
  offersIgnored: number;
}

class PosteriorBuilder {
  readonly #recording: Recording;
  readonly #graph: PageGraph;
  readonly #given: KnownNetwork;
  readonly #measured: MeasuredNetwork;
  readonly #knownServers: ReadonlyMap<string, KnownServer>;
  readonly #estimate: NetworkEstimate;
  readonly #prior: ClusterPrior;
  /** The transport whose handshake shows the round trip; null without any. */
  readonly #transport: HandshakeTransport | null;

  constructor(recording: Recording, graph: PageGraph, knowledge: Knowledge) {
    this.#recording = recording;
    this.#graph = graph;
    this.#given = defined(knowledge.given);
    this.#measured = defined(knowledge.measured);
    const cluster = knowledge.cluster ?? null;
    const recordedMs = Date.parse(recording.recordedAt);
    this.#prior = new ClusterPrior(
      cluster,
      Number.isNaN(recordedMs) ? (cluster?.updatedAtMs ?? 0) : recordedMs,
    );
    this.#transport = handshakeTransport(recording);
    const estimate = estimateNetwork(recording);
    this.#knownServers = new Map((knowledge.servers ?? []).map((server) => [server.origin, server]));
    this.#estimate = { ...estimate, servers: this.#withKnown(estimate.servers) };
  }

  build(): NetworkPosterior {
    const seen = this.#estimate.sources;
    const rttMs = this.#rtt();
    const typicalRttMs = this.#given.rttMs ?? this.#measured.rttMs ?? rttMs.quantile(0.5);
    const fit = this.#fit(typicalRttMs);
    const { down, shares } = this.#likeliest(fit);
    const downBps = this.#given.downBps ?? down.quantile(0.5);
    const upBps = this.#up(downBps);
    const burst = this.#lossBurst();
    const lossBurst = this.#given.lossBurst ?? burst.midpoint(0.5);
    const path: NetworkPath = {
      rttMs: typicalRttMs,
      downBps,
      upBps: this.#given.upBps ?? upBps.quantile(0.5),
      loss: this.#given.loss ?? lossBurst * fit.loss.quantile(0.5),
      lossBurst,
      queueBytes: this.#given.queueBytes ?? queueBytesOf(fit.queueMs.quantile(0.5), downBps),
      udp: this.#likeliestUdp(fit, shares),
    };
    const sources = this.#sources({
      rttMs: seen.rttMs === 'estimated',
      downBps: isNarrowed(down, downBpsPrior(typicalRttMs)),
      upBps: isNarrowed(upBps, upBpsPrior(downBps)),
      loss: isNarrowed(fit.loss, LOSS_PRIOR),
      lossBurst: false,
      queueBytes: isNarrowed(fit.queueMs, QUEUE_MS_PRIOR),
      udp: seen.udp === 'estimated',
    });
    // The measurement showed only that UDP is not blocked; the policer comes from the fit.
    if (this.#knownUdp() === undefined && path.udp.kind === 'policed') sources.udp = 'estimated';
    const intervals = {
      rttMs: this.#rttInterval(rttMs),
      downBps: down.interval,
      upBps: upBps.interval,
      loss: lossInterval(fit.loss, lossBurst),
      lossBurst: { low: burst.midpoint(0.1), median: lossBurst, high: burst.midpoint(0.9) },
      queueBytes: scaled(fit.queueMs.interval, downBps / 8000),
    };
    for (const figure of Object.keys(intervals) as UncertainFigure[]) {
      const value = this.#given[figure];
      if (value !== undefined) intervals[figure] = { low: value, median: value, high: value };
    }
    return {
      path,
      servers: this.#servers(down),
      sources,
      intervals,
      udp: shares,
      densities: {
        rttMs,
        upBps,
        queueMs: fit.queueMs,
        loss: fit.loss,
        lossBurst: burst,
        downBps: fit.downBps,
        downBpsPoliced: fit.policed.downBps,
        policedBps: this.#policedBps(fit),
      },
      given: this.#given,
    };
  }

  /**
   * The servers. Where arrivals alone do not show a full link, round trips and waits are judged again by the link's rate, as
   * packets may have queued nevertheless: a repaired loss lets bytes arrive at once, faster than the link.
   *
   * @param fitted the rate by replays
   */
  #servers(fitted: LogDensity): ServerProfile[] {
    const { isFilled, servers } = this.#estimate;
    const given = this.#given.downBps;
    const isElsewhere = given !== undefined && isRecordedElsewhere(this.#recording, this.#given);
    if (isFilled || isElsewhere) return servers;
    const linkBps = given ?? fitted.quantile(LINK_SHARE);
    return this.#withKnown(estimateNetwork(this.#recording, linkBps).servers);
  }

  #withKnown(servers: readonly ServerProfile[]): ServerProfile[] {
    return servers.map((server) => ({ ...server, ...this.#knownServers.get(server.origin) }));
  }

  #rtt(): LogDensity {
    const { path, sources } = this.#estimate;
    const measured = this.#measured.rttMs;
    if (measured !== undefined) return closeTo(measured, MEASURED.rttMs);
    if (sources.rttMs === 'assumed') return this.#prior.density('rttMs', RTT_MS_PRIOR);
    return closeTo(path.rttMs, this.#transport === null ? WAIT_SPREAD : HANDSHAKE_SPREAD);
  }

  /** Emulated handshakes take no processor time, so emulations are given a handshake's whole time; the path's own is shorter. */
  #rttInterval(rttMs: LogDensity): Interval {
    const { interval } = rttMs;
    if (this.#measured.rttMs !== undefined || this.#transport === null) return interval;
    const own = rttFromHandshake(this.#estimate.path.rttMs, this.#transport);
    return { ...interval, low: Math.min(interval.median, own.quantile(0.1)), high: interval.median };
  }

  #up(downBps: number): LogDensity {
    const prior = this.#prior.density('upBps', upBpsPrior(downBps));
    const density = upstreamRate(this.#recording, downBps, prior);
    const measured = this.#measured.upBps;
    return measured === undefined
      ? density
      : density.given((bps) => logNormal(bps, measured, MEASURED.upBps));
  }

  #fit(rttMs: number): RecordedFit {
    const given = this.#given;
    const measured = this.#measured;
    const udp = this.#knownUdp();
    const upOf = new Map<number, number>();
    const upAt = (downBps: number): number => {
      const known = given.upBps ?? upOf.get(downBps);
      if (known !== undefined) return known;
      const upBps = this.#up(downBps).quantile(0.5);
      upOf.set(downBps, upBps);
      return upBps;
    };
    const pathAt = (downBps: number, queueMs: number): NetworkPath => ({
      rttMs,
      downBps,
      upBps: upAt(downBps),
      loss: 0,
      lossBurst: 1,
      queueBytes: given.queueBytes ?? queueBytesOf(queueMs, downBps),
      udp: { kind: 'open' },
    });
    const { reachedBps = 0 } = measured;
    const seenBps = Math.max(this.#estimate.path.downBps, reachedBps);
    const unbounded = this.#prior.density('downBps', downBpsPrior(rttMs));
    const downPrior = unbounded.given((bps) => (bps < REACHED * reachedBps ? Number.NEGATIVE_INFINITY : 0));
    const queuePrior = this.#prior.density('queueMs', QUEUE_MS_PRIOR);
    const { downBps, queueBytes } = measured;
    const priors = {
      downBps:
        downBps === undefined
          ? downPrior
          : downPrior.given((bps) => logNormal(bps, downBps, MEASURED.downBps)),
      loss: this.#lossPrior(pathAt(given.downBps ?? downBps ?? seenBps, queuePrior.quantile(0.5))),
      policedBps: this.#prior.density('policedBps', POLICED_BPS_PRIOR),
      policedShare: this.#prior.policed(UDP_PRIOR.policed),
      queueMs:
        queueBytes === undefined
          ? queuePrior
          : queuePrior.given((ms) => logNormal(queueBytesOf(ms, seenBps), queueBytes, MEASURED.queueBytes)),
    };
    const known = {
      downBps: given.downBps,
      udp: udp?.kind === 'blocked' ? ({ kind: 'open' } as const) : udp,
      queue: given.queueBytes !== undefined,
      loss: given.loss !== undefined,
    };
    const assumptions = assumeProtocols(this.#recording, udp, rttMs);
    const quic = new Set(assumptions.flatMap(({ requests }) => requests.filter(isQuic).map(({ id }) => id)));
    const fits = assumptions.map(({ probability, requests }) => {
      const replay = new Replay({ ...this.#recording, requests }, this.#estimate, ({ id }) => quic.has(id));
      return { probability, fit: fitPath(replay, pathAt, seenBps, priors, known) };
    });
    const ignored = assumptions.findIndex(({ use }) => use === 'ignored');
    const offersIgnored = ignored < 0 ? 0 : posteriorOf(fits)[ignored]!;
    const fit = { ...mixFits(fits), offersIgnored };
    return udp === undefined ? { ...fit, policedShare: this.#policedShare(fit, pathAt) } : fit;
  }

  /**
   * Probability that UDP is policed, given that it is not blocked: that of the fit, updated by how well an open and a policed path
   * explain the load time.
   */
  #policedShare({ policedShare, ...fit }: RecordedFit, pathAt: PathAt): number {
    const ignored = this.#recording.requests.some(isQuic) ? 0 : fit.offersIgnored;
    // Where no request went over HTTP/3, the load time shows nothing about UDP.
    const shown = policedShare - ignored * this.#prior.policed(UDP_PRIOR.policed);
    if (shown <= 0 || ignored === 1) return policedShare;
    const likelihood = (pathOf: (share: number) => NetworkPath) =>
      loadTimeLikelihood(this.#recording, this.#graph, this.#estimate.servers, LOAD_TIME_SHARES.map(pathOf));
    const queueMs = fit.queueMs.quantile(0.5);
    const lossy = (path: NetworkPath, share: number) => ({
      ...path,
      loss: this.#given.loss ?? fit.loss.quantile(share),
    });
    const openBps = this.#given.downBps ?? fit.downBps.quantile(0.5);
    const policedBps = this.#given.downBps ?? fit.policed.downBps.quantile(0.5);
    const open = likelihood((share) => lossy(pathAt(openBps, queueMs), share));
    const policed = likelihood((share) => ({
      ...lossy(pathAt(policedBps, queueMs), share),
      udp: { kind: 'policed', bps: fit.policed.bps.quantile(share) },
    }));
    if (open === null || policed === null || open + policed === 0) return policedShare;
    const all = shown * policed + (1 - shown) * open;
    return (shown * policed + (policedShare - shown) * open) / all;
  }

  /** Prior of random loss. Measured loss over TCP enters as Poisson counts, without the share that queue drops explain if they are included. */
  #lossPrior(path: NetworkPath): LogDensity {
    const prior = this.#prior.density('loss', LOSS_PRIOR);
    const seen = this.#measured.loss;
    if (seen === undefined || seen.packets === 0 || this.#given.loss !== undefined) return prior;
    const events = seen.isRandom ? seen.events : this.#randomEvents(seen, path);
    const weight = Math.min(1, MAX_LOSS_EVENTS / Math.max(events, 1));
    return prior.given((loss) => weight * (events * Math.log(loss) - seen.packets * loss));
  }

  #randomEvents(seen: NonNullable<MeasuredNetwork['loss']>, path: NetworkPath): number {
    const all = (protocol: Protocol) =>
      Object.fromEntries(this.#graph.origins.map((origin) => [origin, protocol]));
    const loads = [all('h1'), all('h2')];
    const share = Math.min(0.5, seen.events / seen.packets);
    return seen.packets * randomLoss(this.#graph, path, this.#estimate.servers, loads, share);
  }

  /**
   * Mean length of loss bursts, packets. Counted losses enter with the likelihood of geometric lengths of mean b: each event ends
   * with probability 1/b after each packet.
   */
  #lossBurst(): LogDensity {
    const prior = this.#prior.density('lossBurst', LOSS_BURST_PRIOR);
    const { events = 0, lost } = this.#measured.loss ?? {};
    if (lost === undefined || events === 0) return prior;
    const weight = Math.min(1, MAX_LOSS_EVENTS / events);
    const further = Math.max(0, lost - events);
    return prior.given(
      (burst) =>
        weight * (further * Math.log(Math.max(MIN_FURTHER, 1 - 1 / burst)) - events * Math.log(burst)),
    );
  }

  #likeliest(fit: RecordedFit): { down: LogDensity; shares: UdpShares } {
    const known = this.#knownUdp();
    if (known !== undefined) {
      const is = (kind: UdpTreatment['kind']) => Number(known.kind === kind);
      const shares = { open: is('open') + is('lossy'), policed: is('policed'), blocked: is('blocked') };
      return { down: fit.downBps, shares };
    }
    const blocked = fit.offersIgnored * this.#blockedShare();
    const policed = (1 - blocked) * fit.policedShare;
    const down = fit.policedShare > 0.5 ? fit.policed.downBps : fit.downBps;
    return { down, shares: { open: 1 - blocked - policed, policed, blocked } };
  }

  #knownUdp(): UdpTreatment | undefined {
    const measured = this.#measured.udp;
    return this.#given.udp ?? (measured?.kind === 'unblocked' ? undefined : measured);
  }

  /** Probability that UDP is blocked: 0 if HTTP/3 answered; it grows with each origin whose HTTP/3 offer went unused. */
  #blockedShare(): number {
    const { requests } = this.#recording;
    const answered = requests.some(({ protocol, status }) => protocol === 'h3' && status !== 0);
    if (answered || this.#measured.udp?.kind === 'unblocked') return 0;
    const prior = this.#prior.blocked(UDP_PRIOR.blocked);
    const odds =
      (prior / (1 - prior)) *
      UNUSED_OFFER_RATIO ** Math.min(MAX_UNUSED_OFFERS, unusedOffers(this.#recording));
    return odds / (1 + odds);
  }

  #likeliestUdp(fit: PathFit, { policed }: UdpShares): UdpTreatment {
    const known = this.#knownUdp();
    if (known !== undefined) return known;
    return policed > 0.5 ? { kind: 'policed', bps: this.#policedBps(fit).quantile(0.5) } : { kind: 'open' };
  }

  #policedBps(fit: PathFit): LogDensity {
    const known = this.#measured.udp;
    if (known?.kind === 'policed')
      return POLICED_BPS_PRIOR.given((bps) => logNormal(bps, known.bps, MEASURED.policedBps));
    return fit.policed.bps;
  }

  #isMeasured(figure: NetworkFigure): boolean {
    return figure === 'lossBurst'
      ? this.#measured.loss?.lost !== undefined
      : this.#measured[figure] !== undefined;
  }

  #sources(isEstimated: Record<NetworkFigure, boolean>): Record<NetworkFigure, FigureSource> {
    const sources = {} as Record<NetworkFigure, FigureSource>;
    for (const figure of Object.keys(isEstimated) as NetworkFigure[]) {
      sources[figure] = isEstimated[figure] ? 'estimated' : 'assumed';
      if (this.#isMeasured(figure)) sources[figure] = 'measured';
      if (this.#given[figure] !== undefined) sources[figure] = 'given';
    }
    return sources;
  }
}

/**
 * Counts origins that offered HTTP/3 in a response and were still requested over TCP after the time in which a browser tries
 * an offer. The evidence is weak: a browser may continue to use an open HTTP/2 connection.
 */
function unusedOffers({ requests }: Recording): number {
  const offeredMs = new Map<string, number>();
  const unused = new Set<string>();
  for (const { url, startMs, endMs, offersH3 } of requests) {
    const origin = originOf(url);
    if (origin === null || !offersH3) continue;
    const atMs = offeredMs.get(origin);
    if (atMs === undefined) offeredMs.set(origin, endMs);
    else if (startMs > atMs + TRIED_AFTER_MS) unused.add(origin);
  }
  return unused.size;
}

const isQuic = ({ protocol }: RecordedRequest) => protocol === 'h3';

/** Log-normal density on a grid of its own, fine enough for its spread. */
function closeTo(figure: number, spread: number): LogDensity {
  const value = Math.max(MIN_RTT_MS, figure);
  const reach = Math.exp(4 * spread);
  return LogDensity.logNormal(logGrid(value / reach, value * reach, 41), value, spread);
}

function isNarrowed(density: LogDensity, prior: LogDensity): boolean {
  return density.moments.spread <= NARROWED * prior.moments.spread;
}

/** Smallest queue, some ten packets. */
const MIN_QUEUE_BYTES = 15_000;

/** Converts a queue's drain time at `downBps` to bytes. */
export function queueBytesOf(queueMs: number, downBps: number): number {
  return Math.max(MIN_QUEUE_BYTES, Math.round((downBps * queueMs) / 8000));
}

/** From 0 where timings do not distinguish the lower end from no loss. */
function lossInterval(events: LogDensity, burst: number): Interval {
  const interval = scaled(events.interval, burst);
  return events.interval.low < AS_NONE ? { ...interval, low: 0 } : interval;
}

function scaled({ low, median, high }: Interval, factor: number): Interval {
  return { low: low * factor, median: median * factor, high: high * factor };
}

function defined<Known extends object>(known: Known | undefined): Partial<Known> {
  const entries = Object.entries(known ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Known>;
}
