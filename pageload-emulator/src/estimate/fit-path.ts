import type { NetworkPath, UdpTreatment } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import { LogDensity } from '../network/log-density.ts';
import { fitLoss } from './fit-loss.ts';
import { interpolated, type LikelihoodPoint, logSum } from './log-likelihood.ts';
import type { RecordingReplay } from './replay.ts';
import { TimingLikelihood } from './timing-likelihood.ts';

/** The path's posterior by replays of a recording on candidate networks. */
export interface PathFit {
  /** Downstream rate if UDP is open, bits per second. */
  downBps: LogDensity;
  /** The same if UDP is policed, and the policer's rate, bits per second. */
  policed: { downBps: LogDensity; loss: LogDensity; bps: LogDensity };
  /** Probability that UDP is policed, given that it is not blocked. */
  policedShare: number;
  /** Time in which the full queue drains, milliseconds. */
  queueMs: LogDensity;
  /** Events of random loss per packet if UDP is open. */
  loss: LogDensity;
  /** Logarithm of the probability of the recorded times, up to a constant that depends only on the responses. */
  logEvidence: number;
}

/** The path's prior before the replays. */
interface FitPriors {
  downBps: LogDensity;
  loss: LogDensity;
  policedBps: LogDensity;
  policedShare: number;
  queueMs: LogDensity;
}

/** Figures that are known and need no fit. */
interface KnownToFit {
  downBps?: number | undefined;
  udp?: UdpTreatment | undefined;
  queue: boolean;
  loss: boolean;
}

/** The path at a rate and with a queue, without random loss. */
export type PathAt = (downBps: number, queueMs: number) => NetworkPath;

/** Rates of the first replays after the initial one, relative to it: upwards mostly, as a page often does not fill its link. */
const HIGHER = [1.4, 2, 3.2, 6];
const LOWER = [0.75, 0.5];
/** When the lowest rate is the likeliest, the next one is lower by this factor. */
const STILL_LOWER = 0.6;
const MAX_LOWER_STEPS = 6;
/** A link is at least this share of the average rate of all responses. */
const HELD_SHARE = 0.8;
/** Number of times that the steps around the likeliest rate are halved. */
const REFINEMENTS = 2;
/** Policers to replay with, as shares of the link's rate. */
const POLICED_SHARES = [0.5, 0.25, 0.12, 0.06, 0.03];
/** Policers above this share of the link's rate have no noticeable effect. */
const MAX_POLICED_SHARE = 0.6;
/**
 * Policers to replay with, relative to the rate that fits the load best on an open link: a full bucket lets more through at first. A policer
 * that drops other packets than the true one did explains little, so that steps must be small.
 */
const BELOW_APPARENT = [1, 0.9, 0.81, 0.73, 0.66];
/**
 * Policers to replay with, relative to the rate at which responses over HTTP/3 arrived: a policer's own rate is somewhat higher, as it drops
 * what is sent again, or lower, as a full bucket lets more through at first.
 */
const AROUND_PASSED = [1.1, 1.4, 0.9];
/** Slower than this quantile of the prior, a rate shows responses that their servers held open, and no policer. */
const UNLIKELY_BELOW = 0.01;
/** Policers whose rates differ by less than this share, by rounding, are one. */
const SAME_RATE = 1e-6;
/** Factors to replay around the likeliest policer. */
const POLICED_STEPS = [Math.SQRT2, Math.SQRT1_2, 1.19, 0.84];
/**
 * A candidate is hopeless when its log-likelihood is this far below the best one: no rate further from the best is replayed then. A policer
 * that is so far below an open path is not searched for in finer steps.
 */
const HOPELESS = 8;
/** For a less probable policer neither further link rates nor losses are replayed. */
const MIN_POLICED_SHARE = 0.05;
/**
 * Link rates to replay under the likeliest policer, relative to the likeliest rate on an open link, where responses over HTTP/3 took what the
 * policer left to those over TCP: low ones mostly.
 */
const POLICED_RATES = [0.12, 0.25, 0.5, 0.75, 1, 1.3, 2];
/**
 * Where earlier loads showed a policer, a load over HTTP/3 refutes it only by a rate above this multiple of the policer's: a slower one looks
 * alike on a slow link without a policer.
 */
const REFUTING_RATE = 2;
/** Queues to replay with at the likeliest rate, relative to the prior's median. */
const QUEUES = [0.35, 2.2, 5];
/** A gain in log-likelihood above this selects another queue, with which rates are then replayed. */
const OTHER_QUEUE = 1;
const OTHER_QUEUE_RATES = [0.85, 1, 1.2];
/** The emulator's error: standard deviation of the logarithm of the best-fitting rate, and of the queue, around the true one. */
const RATE_ERROR = 0.12;
const QUEUE_ERROR = 0.3;
/** Events of all replays together: a large page gets fewer replays. */
const MAX_EVENTS = 150_000;
/** The same where a policer explains the load much better than an open path: then it decides how fast the page can load. */
const MAX_EVENTS_IF_POLICED = 180_000;

/** What a path is fitted to. */
interface FitQuestion {
  replay: RecordingReplay;
  pathAt: PathAt;
  /** The rate to begin at, bits per second. */
  seenBps: number;
  priors: FitPriors;
  known: KnownToFit;
  /** See `NetworkKnowledge`. */
  onlyRates: boolean;
}

/** Fits rate, queue, UDP's treatment and loss by replaying the recording's own transfers, some 15 to 30 times. */
export function fitPath(question: FitQuestion): PathFit {
  return new PathSearch(question).fit();
}

interface Replayed {
  bps: number;
  all: number;
  tcp: number;
}

type Policing = Pick<PathFit, 'policedShare' | 'logEvidence'> & {
  policed: Omit<PathFit['policed'], 'loss'>;
};

class PathSearch {
  readonly #question: FitQuestion;
  readonly #downPrior: LogDensity;
  readonly #likelihood: TimingLikelihood;
  /** By rate, queue and UDP's treatment. */
  readonly #replayed = new Map<string, Replayed>();
  #queueMs: number;
  #events = 0;
  #maxEvents = MAX_EVENTS;

  constructor(question: FitQuestion) {
    const { replay, pathAt, seenBps, priors } = question;
    this.#question = question;
    this.#downPrior = priors.downBps.given((bps) =>
      bps < HELD_SHARE * replay.averageBps ? Number.NEGATIVE_INFINITY : 0,
    );
    this.#queueMs = priors.queueMs.quantile(0.5);
    this.#likelihood = new TimingLikelihood(replay, pathAt(seenBps, this.#queueMs).rttMs, priors.loss);
  }

  fit(): PathFit {
    if (this.#isAllKnown()) return this.#priorFit();
    try {
      return this.#fitted();
    } catch (error) {
      // A replay that does not end shows nothing about the path.
      if (error instanceof EndlessLoadError) return this.#priorFit();
      throw error;
    }
  }

  #fitted(): PathFit {
    const { udp } = this.#question.known;
    const treatment: UdpTreatment = udp ?? { kind: 'open' };
    const points = this.#search(treatment);
    const queueMs = this.#fitQueue(points, treatment);
    // What a policer lets through shows nothing of the link's rate.
    const downBps = this.#downBps(points, treatment.kind === 'policed' ? 'tcp' : 'all');
    const policing =
      udp === undefined && this.#showsUdp()
        ? this.#fitPolicer(points)
        : this.#unpoliced(points, udp === undefined ? this.#question.priors.policedShare : 0);
    const { policed, policedShare } = policing;
    const loss = this.#fitLoss(downBps, treatment);
    const policer: UdpTreatment = { kind: 'policed', bps: policed.bps.quantile(0.5) };
    const lossIfPoliced =
      udp === undefined && policedShare >= MIN_POLICED_SHARE ? this.#fitLoss(policed.downBps, policer) : loss;
    return { ...policing, downBps, queueMs, loss, policed: { ...policed, loss: lossIfPoliced } };
  }

  #isAllKnown(): boolean {
    const { downBps, udp, queue, loss } = this.#question.known;
    return (
      this.#question.replay.requests.length === 0 ||
      (downBps !== undefined && udp !== undefined && queue && loss)
    );
  }

  #priorFit(): PathFit {
    const { downBps, queueMs, loss, policedBps, policedShare } = this.#question.priors;
    return {
      downBps,
      queueMs,
      loss,
      policed: { downBps, loss, bps: policedBps },
      policedShare,
      logEvidence: 0,
    };
  }

  #search(udp: UdpTreatment): Replayed[] {
    const { downBps } = this.#question.known;
    if (downBps !== undefined) return [this.#replayAt(downBps, udp)];
    const { seenBps } = this.#question;
    const points = [this.#replayAt(seenBps, udp)];
    for (const factor of HIGHER) {
      if (this.#exhausted || this.#isHopeless(points[points.length - 1]!, points)) break;
      points.push(this.#replayAt(factor * seenBps, udp));
    }
    for (const factor of LOWER) {
      if (this.#exhausted || this.#isHopeless(points[0]!, points)) break;
      points.unshift(this.#replayAt(factor * seenBps, udp));
    }
    for (let lower = 0; lower < MAX_LOWER_STEPS && !this.#exhausted; lower++) {
      const lowest = points[0]!;
      if (best(points) !== lowest || lowest.bps < HELD_SHARE * this.#question.replay.averageBps) break;
      points.unshift(this.#replayAt(STILL_LOWER * lowest.bps, udp));
    }
    const refinements = this.#question.onlyRates ? 0 : REFINEMENTS;
    for (let step = 0; step < refinements && !this.#exhausted; step++) {
      const index = points.indexOf(best(points));
      const at = points[index]!;
      for (const neighbour of [points[index - 1], points[index + 1]]) {
        if (neighbour) points.push(this.#replayAt(Math.sqrt(neighbour.bps * at.bps), udp));
      }
      points.sort((a, b) => a.bps - b.bps);
    }
    return points;
  }

  /** Whether a rate does not explain the load, nor its responses over TCP, which alone show the rate of a link that polices UDP. */
  #isHopeless(point: Replayed, points: readonly Replayed[]): boolean {
    const isBelow = (which: 'all' | 'tcp') => points.some((other) => point[which] < other[which] - HOPELESS);
    return isBelow('all') && (!this.#showsTcp() || isBelow('tcp'));
  }

  /** Tries other queues at the likeliest rate, then other rates with the likeliest queue, which replace those in `points`. */
  #fitQueue(points: Replayed[], udp: UdpTreatment): LogDensity {
    const prior = this.#question.priors.queueMs;
    if (this.#question.known.queue || this.#question.onlyRates || this.#exhausted) return prior;
    const at = best(points);
    const priorMs = this.#queueMs;
    const tried: LikelihoodPoint[] = [{ value: priorMs, logLikelihood: at.all }];
    let likeliest = tried[0]!;
    for (const factor of QUEUES) {
      // A queue that never fills up fits as well as any larger one.
      if (factor > QUEUES[1]! && likeliest.value < priorMs * QUEUES[1]!) break;
      this.#queueMs = factor * priorMs;
      const point = { value: this.#queueMs, logLikelihood: this.#replayAt(at.bps, udp).all };
      tried.push(point);
      if (point.logLikelihood > likeliest.logLikelihood + OTHER_QUEUE) likeliest = point;
    }
    this.#queueMs = likeliest.value;
    if (likeliest.value !== priorMs && this.#question.known.downBps === undefined) {
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

  /** The prior of a policer, when no replay was made with one. */
  #unpoliced(points: readonly Replayed[], policedShare: number): Policing {
    const policed = { downBps: this.#downBps(points, 'all'), bps: this.#question.priors.policedBps };
    return { policed, policedShare, logEvidence: this.#evidence(points, 'all') };
  }

  #showsUdp(): boolean {
    return this.#question.replay.requests.some(({ protocol, sized }) => protocol === 'h3' && sized);
  }

  #showsTcp(): boolean {
    return this.#question.replay.requests.some(({ protocol, sized }) => protocol !== 'h3' && sized);
  }

  /** Compares an open path with policers: responses over TCP show the link's rate, those over QUIC the policer's. */
  #fitPolicer(points: readonly Replayed[]): Policing {
    const { policedShare } = this.#question.priors;
    if (this.#exhausted) return this.#unpoliced(points, policedShare);
    const byTcp = this.#downBps(points, 'tcp');
    const linkBps = this.#question.known.downBps ?? byTcp.quantile(0.5);
    const policedBps = this.#question.priors.policedBps.given((bps) =>
      bps > MAX_POLICED_SHARE * linkBps ? Number.NEGATIVE_INFINITY : 0,
    );
    const policers: LikelihoodPoint[] = [];
    const tryPolicer = (bps: number) => {
      if (this.#exhausted && policers.length > 0) return;
      if (policers.some(({ value }) => Math.abs(value / bps - 1) < SAME_RATE)) return;
      const { all } = this.#replayAt(linkBps, { kind: 'policed', bps });
      policers.push({ value: bps, logLikelihood: all });
      if (all > best(points).all + HOPELESS) this.#maxEvents = MAX_EVENTS_IF_POLICED;
    };
    const likeliest = () => policers.reduce((a, b) => (b.logLikelihood > a.logLikelihood ? b : a));
    const bestBps = () => likeliest().value;
    // The rate that fits an open link best is what a policer lets through, or somewhat more.
    const apparentBps = best(points).bps;
    if (apparentBps < MAX_POLICED_SHARE * linkBps) {
      for (const factor of BELOW_APPARENT) tryPolicer(factor * apparentBps);
    }
    const isHopeless = ({ logLikelihood }: LikelihoodPoint) => logLikelihood < best(points).all - HOPELESS;
    for (const share of POLICED_SHARES) {
      tryPolicer(share * linkBps);
      // Where neither the apparent rate nor a fast policer explains the load, or one is too slow for it, slower ones do not explain it either.
      const last = policers[policers.length - 1]!;
      if (isHopeless(likeliest()) || (isHopeless(last) && last.value < bestBps())) break;
    }
    // Policers far from the true one all explain a load as badly, so that no step among them leads to it.
    const isFound = () => likeliest().logLikelihood > best(points).all + HOPELESS;
    const passedBps = this.#question.replay.quicBps;
    const isBelowAll = passedBps < Math.min(...policers.map(({ value }) => value));
    if (isBelowAll && passedBps >= policedBps.quantile(UNLIKELY_BELOW) && !isFound()) {
      for (const factor of AROUND_PASSED) {
        tryPolicer(factor * passedBps);
        if (!isFound()) break;
      }
    }
    if (!isHopeless(likeliest())) {
      for (const step of POLICED_STEPS) tryPolicer(Math.min(MAX_POLICED_SHARE * linkBps, step * bestBps()));
    }
    policers.sort((a, b) => a.value - b.value);

    const bps = policedBps.given((value) => interpolated(policers, value));
    const tcpAtLink = interpolated(pointsOf(points, 'tcp'), linkBps, 'falling');
    const logPoliced = evidence(policedBps, policers, 'constant') - tcpAtLink + this.#evidence(points, 'tcp');
    const logOpen = this.#evidence(points, 'all');
    const odds = (policedShare / (1 - policedShare)) * Math.exp(Math.min(50, logPoliced - logOpen));
    const share = Math.max(odds / (1 + odds), this.#mayRefute(apparentBps) ? 0 : policedShare);
    const logEvidence = logSum([Math.log(policedShare) + logPoliced, Math.log(1 - policedShare) + logOpen]);
    if (share < MIN_POLICED_SHARE || this.#question.known.downBps !== undefined) {
      return { policed: { downBps: byTcp, bps }, policedShare: share, logEvidence };
    }
    const replayed = POLICED_RATES.map((factor) =>
      this.#replayAt(factor * linkBps, { kind: 'policed', bps: bestBps() }),
    );
    const downBps = this.#downBps(replayed, 'tcp').given((rate) =>
      rate < HELD_SHARE * this.#question.replay.tcpBps ? Number.NEGATIVE_INFINITY : 0,
    );
    return { policed: { downBps, bps }, policedShare: share, logEvidence };
  }

  /** Whether a load may refute what is known of a policer. @param apparentBps the rate that fits it best on an open path */
  #mayRefute(apparentBps: number): boolean {
    const { policedShare, policedBps } = this.#question.priors;
    return !isShownPoliced(policedShare) || apparentBps > REFUTING_RATE * policedBps.quantile(0.5);
  }

  #fitLoss(downBps: LogDensity, udp: UdpTreatment): LogDensity {
    const { loss } = this.#question.priors;
    if (this.#question.known.loss || this.#question.onlyRates || this.#exhausted) return loss;
    const bps = this.#question.known.downBps ?? downBps.quantile(0.5);
    const path = { ...this.#question.pathAt(bps, this.#queueMs), udp };
    // What UDP alone loses, or a policer drops, is no random loss of the link.
    const counts = udp.kind === 'policed' || udp.kind === 'lossy' ? 'tcp' : 'all';
    return fitLoss(this.#question.replay, path, loss, counts, (events) => {
      this.#events += events;
      return !this.#exhausted;
    });
  }

  get #exhausted(): boolean {
    return this.#events > this.#maxEvents;
  }

  #replayAt(bps: number, udp: UdpTreatment): Replayed {
    const name = JSON.stringify([bps, this.#queueMs, udp]);
    const replayed = this.#replayed.get(name) ?? this.#replay(bps, udp);
    this.#replayed.set(name, replayed);
    return replayed;
  }

  #replay(bps: number, udp: UdpTreatment): Replayed {
    const times = this.#question.replay.run({ ...this.#question.pathAt(bps, this.#queueMs), udp });
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

  /** Log-evidence: the likelihood averaged over the prior of the rate. */
  #evidence(points: readonly Replayed[], which: 'all' | 'tcp'): number {
    return evidence(this.#downPrior, pointsOf(points, which), 'falling');
  }
}

/** Whether earlier loads showed that UDP is policed. @param policedShare probability of it before the load */
export const isShownPoliced = (policedShare: number): boolean => policedShare > 0.5;

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
