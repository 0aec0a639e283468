import type { NetworkPath, UdpTreatment } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import { interpolated, type LikelihoodPoint, logSum } from '../network/interpolation.ts';
import { LogDensity } from '../network/log-density.ts';
import { fitLoss } from './fit-loss.ts';
import type { Replay } from './replay.ts';
import { TimingLikelihood } from './timing-likelihood.ts';

/** What replays of a recording on candidate networks say of the path. */
export interface PathFit {
  /** Downstream rate where UDP is open, bits per second. */
  downBps: LogDensity;
  /** Downstream rate and the policer's where UDP is policed. */
  policed: { downBps: LogDensity; bps: LogDensity };
  /** Probability that UDP is policed, given that it is not blocked. */
  policedShare: number;
  /** Time in which the queue drains when full, milliseconds. */
  queueMs: LogDensity;
  /** Events of random loss per packet. */
  loss: LogDensity;
}

/** What is believed of the path before the replays. */
export interface FitPriors {
  downBps: LogDensity;
  loss: LogDensity;
  policedBps: LogDensity;
  policedShare: number;
  queueMs: LogDensity;
}

/** What need not be found. */
export interface KnownToFit {
  downBps?: number | undefined;
  udp?: UdpTreatment | undefined;
  queue: boolean;
  loss: boolean;
}

/** The path at a rate and with a queue, without random loss. */
export type PathAt = (downBps: number, queueMs: number) => NetworkPath;

/** Rates to replay first, over the one to begin at: a page often does not fill its link. */
const COARSE = [0.5, 0.75, 1, 1.4, 2, 3.2, 6];
/** When the lowest is the likeliest, still lower ones by this. */
const LOWER = 0.6;
const MAX_LOWER_STEPS = 6;
/** No link is slower than this share of the rate at which all responses came on average. */
const HELD_SHARE = 0.8;
/** Halvings of the steps around the likeliest rate. */
const REFINEMENTS = 2;
/** Rates of policers to replay, as shares of the link's, and steps around the likeliest. */
const POLICED_SHARES = [0.5, 0.25, 0.12, 0.06, 0.03];
/** A policer that lets more of the link's rate through does nothing that matters. */
const MAX_POLICED_SHARE = 0.6;
const POLICED_STEPS = [Math.SQRT2, Math.SQRT1_2, 1.19, 0.84];
/** A logarithm of a likelihood so far below that of an open path is not worth another replay. */
const HOPELESS = 8;
/** A policer less probable than this is not looked at more closely. */
const WORTH_LOOKING = 0.05;
/** Shares of the likeliest rate to replay under the likeliest policer. */
const POLICED_RATES = [0.5, 0.75, 1, 1.3, 2];
/** Queues to replay with at the likeliest rate, over the one that is believed before. */
const QUEUES = [0.35, 2.2, 5];
/** Logarithm of a likelihood ratio from which another queue is taken, and rates are replayed with it. */
const OTHER_QUEUE = 1;
const OTHER_QUEUE_RATES = [0.85, 1, 1.2];
/** Spread of the rates and queues that fit best around those that are true, where the emulator is the cause; of the logarithm. */
const RATE_ERROR = 0.12;
const QUEUE_ERROR = 0.3;
/** Events of all replays together: a large page gets fewer. */
const MAX_EVENTS = 250_000;

/**
 * Fits rate, queue, UDP's treatment and loss by replaying the recording's own transfers, some 15 to 35 times.
 *
 * @param seenBps a rate to begin at
 */
export function fitPath(
  replay: Replay,
  pathAt: PathAt,
  seenBps: number,
  priors: FitPriors,
  known: KnownToFit,
): PathFit {
  return new PathSearch(replay, pathAt, seenBps, priors, known).fit();
}

interface Replayed {
  bps: number;
  all: number;
  tcp: number;
}

class PathSearch {
  readonly #replay: Replay;
  readonly #pathAt: PathAt;
  readonly #seenBps: number;
  readonly #priors: FitPriors;
  readonly #known: KnownToFit;
  readonly #downPrior: LogDensity;
  readonly #likelihood: TimingLikelihood;
  #queueMs: number;
  #events = 0;

  constructor(replay: Replay, pathAt: PathAt, seenBps: number, priors: FitPriors, known: KnownToFit) {
    this.#replay = replay;
    this.#pathAt = pathAt;
    this.#seenBps = seenBps;
    this.#priors = priors;
    this.#known = known;
    this.#downPrior = priors.downBps.given((bps) =>
      bps < HELD_SHARE * replay.averageBps ? Number.NEGATIVE_INFINITY : 0,
    );
    this.#queueMs = priors.queueMs.quantile(0.5);
    this.#likelihood = new TimingLikelihood(replay, pathAt(seenBps, this.#queueMs).rttMs, priors.loss);
  }

  fit(): PathFit {
    if (this.#isAllKnown()) return this.#believed();
    try {
      return this.#fitted();
    } catch (error) {
      // What takes so long on a path tells nothing of it.
      if (error instanceof EndlessLoadError) return this.#believed();
      throw error;
    }
  }

  #fitted(): PathFit {
    const { udp } = this.#known;
    const treatment: UdpTreatment = udp ?? { kind: 'open' };
    const points = this.#search(treatment);
    const queueMs = this.#fitQueue(points, treatment);
    const downBps = this.#downBps(points, 'all');
    const policing =
      udp === undefined && this.#tellsOfUdp()
        ? this.#fitPolicer(points)
        : this.#unpoliced(downBps, udp === undefined ? this.#priors.policedShare : 0);
    const { policed, policedShare } = policing;
    const isPoliced = policedShare > 0.5;
    const rate = this.#known.downBps ?? (isPoliced ? policed.downBps : downBps).quantile(0.5);
    const likeliest: UdpTreatment = isPoliced
      ? { kind: 'policed', bps: policed.bps.quantile(0.5) }
      : treatment;
    return { downBps, queueMs, loss: this.#fitLoss(rate, likeliest), ...policing };
  }

  #isAllKnown(): boolean {
    const { downBps, udp, queue, loss } = this.#known;
    return (
      this.#replay.requests.length === 0 || (downBps !== undefined && udp !== undefined && queue && loss)
    );
  }

  #believed(): PathFit {
    const { downBps, queueMs, loss, policedBps, policedShare } = this.#priors;
    return { downBps, queueMs, loss, policed: { downBps, bps: policedBps }, policedShare };
  }

  #search(udp: UdpTreatment): Replayed[] {
    const { downBps } = this.#known;
    if (downBps !== undefined) return [this.#replayAt(downBps, udp)];
    const points: Replayed[] = [];
    for (const factor of COARSE) {
      if (points.length === 0 || !this.#exhausted) points.push(this.#replayAt(factor * this.#seenBps, udp));
    }
    for (let lower = 0; lower < MAX_LOWER_STEPS && !this.#exhausted; lower++) {
      const lowest = points[0]!;
      if (best(points) !== lowest || lowest.bps < HELD_SHARE * this.#replay.averageBps) break;
      points.unshift(this.#replayAt(LOWER * lowest.bps, udp));
    }
    for (let step = 0; step < REFINEMENTS && !this.#exhausted; step++) {
      const index = points.indexOf(best(points));
      const at = points[index]!;
      for (const neighbour of [points[index - 1], points[index + 1]]) {
        if (neighbour) points.push(this.#replayAt(Math.sqrt(neighbour.bps * at.bps), udp));
      }
      points.sort((a, b) => a.bps - b.bps);
    }
    return points;
  }

  /** Tries other queues at the likeliest rate, and other rates with the likeliest queue, which take the place of `points`. */
  #fitQueue(points: Replayed[], udp: UdpTreatment): LogDensity {
    const prior = this.#priors.queueMs;
    if (this.#known.queue || this.#exhausted) return prior;
    const at = best(points);
    const believedMs = this.#queueMs;
    const tried: LikelihoodPoint[] = [{ value: believedMs, logLikelihood: at.all }];
    let likeliest = tried[0]!;
    for (const factor of QUEUES) {
      // A queue that is never full may be any larger.
      if (factor > QUEUES[1]! && likeliest.value < believedMs * QUEUES[1]!) break;
      this.#queueMs = factor * believedMs;
      const point = { value: this.#queueMs, logLikelihood: this.#replayAt(at.bps, udp).all };
      tried.push(point);
      if (point.logLikelihood > likeliest.logLikelihood + OTHER_QUEUE) likeliest = point;
    }
    this.#queueMs = likeliest.value;
    if (likeliest.value !== believedMs && this.#known.downBps === undefined) {
      const again = OTHER_QUEUE_RATES.map((factor) => this.#replayAt(factor * at.bps, udp));
      const [from, to] = [again[0]!.bps, again[again.length - 1]!.bps];
      const outside = points.filter(({ bps }) => bps < from || bps > to);
      points.splice(0, points.length, ...outside, ...again);
      points.sort((a, b) => a.bps - b.bps);
    }
    tried.sort((a, b) => a.value - b.value);
    const seen = new LogDensity(
      prior.values,
      prior.values.map((ms) => interpolated(tried, ms)),
    );
    return prior.times(seen.blurred(QUEUE_ERROR));
  }

  /** What there is to say of a policer when nothing was replayed with one. */
  #unpoliced(downBps: LogDensity, policedShare: number): Pick<PathFit, 'policed' | 'policedShare'> {
    return { policed: { downBps, bps: this.#priors.policedBps }, policedShare };
  }

  #tellsOfUdp(): boolean {
    return this.#replay.requests.some(({ protocol, sized }) => protocol === 'h3' && sized);
  }

  /** Holds an open path against policers: what came over TCP tells the link's rate, what came over QUIC the policer's. */
  #fitPolicer(points: readonly Replayed[]): Pick<PathFit, 'policed' | 'policedShare'> {
    const { policedShare } = this.#priors;
    if (this.#exhausted) return this.#unpoliced(this.#downBps(points, 'all'), policedShare);
    const byTcp = this.#downBps(points, 'tcp');
    const linkBps = this.#known.downBps ?? byTcp.quantile(0.5);
    const policedBps = this.#priors.policedBps.given((bps) =>
      bps > MAX_POLICED_SHARE * linkBps ? Number.NEGATIVE_INFINITY : 0,
    );
    const policers: LikelihoodPoint[] = [];
    const tryPolicer = (bps: number) => {
      if (this.#exhausted && policers.length > 0) return;
      policers.push({ value: bps, logLikelihood: this.#replayAt(linkBps, { kind: 'policed', bps }).all });
    };
    const bestBps = () => policers.reduce((a, b) => (b.logLikelihood > a.logLikelihood ? b : a)).value;
    // What an open link would have to carry is about what a policer lets through.
    const apparentBps = best(points).bps;
    if (apparentBps < MAX_POLICED_SHARE * linkBps) tryPolicer(apparentBps);
    for (const share of POLICED_SHARES) tryPolicer(share * linkBps);
    const bestLogLikelihood = Math.max(...policers.map(({ logLikelihood }) => logLikelihood));
    if (bestLogLikelihood > best(points).all - HOPELESS) {
      for (const step of POLICED_STEPS) tryPolicer(Math.min(MAX_POLICED_SHARE * linkBps, step * bestBps()));
    }
    policers.sort((a, b) => a.value - b.value);

    const bps = policedBps.given((value) => interpolated(policers, value));
    const tcpAtLink = interpolated(pointsOf(points, 'tcp'), linkBps, 'falling');
    const logPoliced = evidence(policedBps, policers, 'constant') - tcpAtLink + this.#evidence(points, 'tcp');
    const logOpen = this.#evidence(points, 'all');
    const odds = (policedShare / (1 - policedShare)) * Math.exp(Math.min(50, logPoliced - logOpen));
    const share = odds / (1 + odds);
    if (share < WORTH_LOOKING || this.#known.downBps !== undefined) {
      return { policed: { downBps: byTcp, bps }, policedShare: share };
    }
    const replayed = POLICED_RATES.map((factor) =>
      this.#replayAt(factor * linkBps, { kind: 'policed', bps: bestBps() }),
    );
    return { policed: { downBps: this.#downBps(replayed, 'tcp'), bps }, policedShare: share };
  }

  #fitLoss(downBps: number, udp: UdpTreatment): LogDensity {
    const { loss } = this.#priors;
    if (this.#known.loss || this.#exhausted) return loss;
    const path = { ...this.#pathAt(downBps, this.#queueMs), udp };
    return fitLoss(this.#replay, path, loss, (events) => {
      this.#events += events;
      return !this.#exhausted;
    });
  }

  get #exhausted(): boolean {
    return this.#events > MAX_EVENTS;
  }

  #replayAt(bps: number, udp: UdpTreatment): Replayed {
    const times = this.#replay.run({ ...this.#pathAt(bps, this.#queueMs), udp });
    this.#events += times.events;
    return { bps, ...this.#likelihood.of(times) };
  }

  #downBps(points: readonly Replayed[], which: 'all' | 'tcp'): LogDensity {
    const likelihoods = pointsOf(points, which);
    const { values } = this.#downPrior;
    const seen = new LogDensity(
      values,
      values.map((bps) => interpolated(likelihoods, bps, 'falling')),
    ).blurred(RATE_ERROR);
    return this.#downPrior.times(seen);
  }

  /** Logarithm of the probability of what was seen, whatever the rate. */
  #evidence(points: readonly Replayed[], which: 'all' | 'tcp'): number {
    return evidence(this.#downPrior, pointsOf(points, which), 'falling');
  }
}

function best(points: readonly Replayed[]): Replayed {
  return points.reduce((a, b) => (b.all > a.all ? b : a));
}

function pointsOf(points: readonly Replayed[], which: 'all' | 'tcp'): LikelihoodPoint[] {
  return points.map((point) => ({ value: point.bps, logLikelihood: point[which] }));
}

function evidence(
  prior: LogDensity,
  points: readonly LikelihoodPoint[],
  below: 'constant' | 'falling',
): number {
  return logSum(
    prior.values.map((value, index) => Math.log(prior.weights[index]!) + interpolated(points, value, below)),
  );
}
