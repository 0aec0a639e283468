import type { UdpTreatment } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import { LogDensity } from '../network/log-density.ts';
import { CandidateReplays, type PathAt, type ReplayedRate } from './candidate-replays.ts';
import { fitLoss } from './fit-loss.ts';
import { fitPolicer, MIN_POLICED_SHARE, type PolicerFit } from './fit-policer.ts';
import { interpolated, type LikelihoodPoint } from './log-likelihood.ts';
import { HELD_SHARE, likeliestRate, rateEvidence, ratePosterior } from './rate-posterior.ts';
import type { RecordingReplay } from './replay.ts';

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

/** Rates of the first replays after the initial one, relative to it: upwards mostly, as a page often does not fill its link. */
const HIGHER = [1.4, 2, 3.2, 6];
const LOWER = [0.75, 0.5];
/** When the lowest rate is the likeliest, the next one is lower by this factor. */
const STILL_LOWER = 0.6;
const MAX_LOWER_STEPS = 6;
/** Number of times that the steps around the likeliest rate are halved. */
const REFINEMENTS = 2;
/** A rate whose log-likelihood is this far below the best one is hopeless: none further from the best is replayed then. */
const HOPELESS = 8;
/** Queues to replay with at the likeliest rate, relative to the prior's median. */
const QUEUES = [0.35, 2.2, 5];
/** A gain in log-likelihood above this selects another queue, with which rates are then replayed. */
const OTHER_QUEUE = 1;
const OTHER_QUEUE_RATES = [0.85, 1, 1.2];
/** The emulator's error: standard deviation of the logarithm of the best-fitting queue around the true one. */
const QUEUE_ERROR = 0.3;

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

class PathSearch {
  readonly #question: FitQuestion;
  readonly #downPrior: LogDensity;
  readonly #replays: CandidateReplays;
  #queueMs: number;

  constructor(question: FitQuestion) {
    const { replay, pathAt, seenBps, priors } = question;
    this.#question = question;
    this.#downPrior = priors.downBps.atLeast(HELD_SHARE * replay.averageBps);
    this.#queueMs = priors.queueMs.quantile(0.5);
    const { rttMs } = pathAt(seenBps, this.#queueMs);
    this.#replays = new CandidateReplays(replay, pathAt, rttMs, priors.loss);
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
    const downBps = ratePosterior(this.#downPrior, points, treatment.kind === 'policed' ? 'tcp' : 'all');
    const policing = this.#fitPolicer(points);
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

  /** Replays rates around the seen one until those further off are hopeless, then in finer steps around the likeliest. Ascending. */
  #search(udp: UdpTreatment): ReplayedRate[] {
    const { downBps } = this.#question.known;
    if (downBps !== undefined) return [this.#replayAt(downBps, udp)];
    const { seenBps } = this.#question;
    const points = [this.#replayAt(seenBps, udp)];
    for (const factor of HIGHER) {
      if (this.#replays.isExhausted || this.#isHopeless(points[points.length - 1]!, points)) break;
      points.push(this.#replayAt(factor * seenBps, udp));
    }
    for (const factor of LOWER) {
      if (this.#replays.isExhausted || this.#isHopeless(points[0]!, points)) break;
      points.unshift(this.#replayAt(factor * seenBps, udp));
    }
    for (let lower = 0; lower < MAX_LOWER_STEPS && !this.#replays.isExhausted; lower++) {
      const lowest = points[0]!;
      if (likeliestRate(points) !== lowest || lowest.bps < HELD_SHARE * this.#question.replay.averageBps)
        break;
      points.unshift(this.#replayAt(STILL_LOWER * lowest.bps, udp));
    }
    const refinements = this.#question.onlyRates ? 0 : REFINEMENTS;
    for (let step = 0; step < refinements && !this.#replays.isExhausted; step++) {
      const index = points.indexOf(likeliestRate(points));
      const at = points[index]!;
      for (const neighbour of [points[index - 1], points[index + 1]]) {
        if (neighbour) points.push(this.#replayAt(Math.sqrt(neighbour.bps * at.bps), udp));
      }
      points.sort((a, b) => a.bps - b.bps);
    }
    return points;
  }

  /** Whether a rate does not explain the load, nor its responses over TCP, which alone show the rate of a link that polices UDP. */
  #isHopeless(point: ReplayedRate, points: readonly ReplayedRate[]): boolean {
    const isBelow = (which: 'all' | 'tcp') => points.some((other) => point[which] < other[which] - HOPELESS);
    return isBelow('all') && (!this.#replays.showsTcp || isBelow('tcp'));
  }

  /** Tries other queues at the likeliest rate, then other rates with the likeliest queue, which replace those in `points`. */
  #fitQueue(points: ReplayedRate[], udp: UdpTreatment): LogDensity {
    const prior = this.#question.priors.queueMs;
    if (this.#question.known.queue || this.#question.onlyRates || this.#replays.isExhausted) return prior;
    const at = likeliestRate(points);
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

  /** Fits a policer of UDP where the load may show one; else it stays as likely as in the prior, or is known not to be there. */
  #fitPolicer(points: readonly ReplayedRate[]): PolicerFit {
    const { known, priors } = this.#question;
    const { policedBps, policedShare } = priors;
    const downPrior = this.#downPrior;
    if (known.udp === undefined && this.#replays.showsUdp && !this.#replays.isExhausted) {
      return fitPolicer({
        replays: this.#replays,
        open: points,
        queueMs: this.#queueMs,
        priors: { downBps: downPrior, policedBps, policedShare },
        knownDownBps: known.downBps,
      });
    }
    return {
      policed: { downBps: ratePosterior(downPrior, points, 'all'), bps: policedBps },
      policedShare: known.udp === undefined ? policedShare : 0,
      logEvidence: rateEvidence(downPrior, points, 'all'),
    };
  }

  #fitLoss(downBps: LogDensity, udp: UdpTreatment): LogDensity {
    const { loss } = this.#question.priors;
    if (this.#question.known.loss || this.#question.onlyRates || this.#replays.isExhausted) return loss;
    const bps = this.#question.known.downBps ?? downBps.quantile(0.5);
    const path = { ...this.#question.pathAt(bps, this.#queueMs), udp };
    // What UDP alone loses, or a policer drops, is no random loss of the link.
    const counts = udp.kind === 'policed' || udp.kind === 'lossy' ? 'tcp' : 'all';
    return fitLoss(this.#question.replay, path, loss, counts, (events) => {
      this.#replays.spend(events);
      return !this.#replays.isExhausted;
    });
  }

  #replayAt(bps: number, udp: UdpTreatment): ReplayedRate {
    return this.#replays.at(bps, this.#queueMs, udp);
  }
}
