import type { LogDensity } from '../network/log-density.ts';
import type { CandidateReplays, ReplayedRate } from './candidate-replays.ts';
import { interpolated, type LikelihoodPoint, logEvidence, logSum } from './log-likelihood.ts';
import { HELD_SHARE, likeliestRate, likelihoodsOf, rateEvidence, ratePosterior } from './rate-posterior.ts';

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
 * A log-likelihood this far below that of the best open path makes a policer hopeless: it is not searched for in finer steps. One this far
 * above it means that the policer is found.
 */
const CLEAR_LEAD = 8;
/** For a less probable policer neither further link rates nor losses are replayed. */
export const MIN_POLICED_SHARE = 0.05;
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
/** Odds are bounded by this logarithm, so that they stay finite. */
const MAX_LOG_ODDS = 50;

/** What replays show of a policer of UDP. */
export interface PolicerFit {
  /** Downstream rate of the link, and the policer's, if UDP is policed; bits per second. */
  policed: { downBps: LogDensity; bps: LogDensity };
  /** Probability that UDP is policed, given that it is not blocked. */
  policedShare: number;
  /** Logarithm of the probability of the recorded times, up to a constant that depends only on the responses. */
  logEvidence: number;
}

/** What a policer is searched for in. */
interface PolicerQuestion {
  replays: CandidateReplays;
  /** The replays on an open path, by ascending rate. */
  open: readonly ReplayedRate[];
  queueMs: number;
  priors: { downBps: LogDensity; policedBps: LogDensity; policedShare: number };
  /** The link's rate where it is known, bits per second. */
  knownDownBps: number | undefined;
}

/**
 * Compares an open path with policers: responses over TCP show the link's rate, those over QUIC the policer's.
 *
 * @throws EndlessLoadError when a replay does not end
 */
export function fitPolicer(question: PolicerQuestion): PolicerFit {
  return new PolicerSearch(question).fit();
}

class PolicerSearch {
  readonly #question: PolicerQuestion;
  /** The likeliest rate on an open path: what a policer lets through, or somewhat more. */
  readonly #apparent: ReplayedRate;
  /** Posterior of the link's rate by responses over TCP, and the rate to replay policers with. */
  readonly #byTcp: LogDensity;
  readonly #linkBps: number;
  readonly #policedPrior: LogDensity;
  /** Log-likelihoods of the policers replayed so far, at least one once the search has begun. */
  readonly #policers: LikelihoodPoint[] = [];

  constructor(question: PolicerQuestion) {
    const { open, priors, knownDownBps } = question;
    this.#question = question;
    this.#apparent = likeliestRate(open);
    this.#byTcp = ratePosterior(priors.downBps, open, 'tcp');
    this.#linkBps = knownDownBps ?? this.#byTcp.quantile(0.5);
    this.#policedPrior = priors.policedBps.atMost(MAX_POLICED_SHARE * this.#linkBps);
  }

  fit(): PolicerFit {
    this.#tryBelowApparent();
    this.#trySharesOfLink();
    this.#tryAroundPassed();
    this.#refine();
    this.#policers.sort((a, b) => a.value - b.value);
    const bps = this.#policedPrior.given((value) => interpolated(this.#policers, value));
    const { policedShare, logEvidence: evidence } = this.#weigh();
    const downBps =
      policedShare < MIN_POLICED_SHARE || this.#question.knownDownBps !== undefined
        ? this.#byTcp
        : this.#fitLink();
    return { policed: { downBps, bps }, policedShare, logEvidence: evidence };
  }

  #tryBelowApparent(): void {
    const { bps } = this.#apparent;
    if (bps >= MAX_POLICED_SHARE * this.#linkBps) return;
    for (const factor of BELOW_APPARENT) this.#try(factor * bps);
  }

  #trySharesOfLink(): void {
    for (const share of POLICED_SHARES) {
      this.#try(share * this.#linkBps);
      // Where neither the apparent rate nor a fast policer explains the load, or one is too slow for it, slower ones do not explain it either.
      const last = this.#policers[this.#policers.length - 1]!;
      const likeliest = this.#likeliest();
      if (this.#isHopeless(likeliest) || (this.#isHopeless(last) && last.value < likeliest.value)) return;
    }
  }

  /** Policers far from the true one all explain a load as badly, so that no step among them leads to it. */
  #tryAroundPassed(): void {
    const passedBps = this.#question.replays.recorded.quicBps;
    const isBelowAll = passedBps < Math.min(...this.#policers.map(({ value }) => value));
    if (!isBelowAll || passedBps < this.#policedPrior.quantile(UNLIKELY_BELOW)) return;
    if (this.#isFound()) return;
    for (const factor of AROUND_PASSED) {
      this.#try(factor * passedBps);
      if (!this.#isFound()) return;
    }
  }

  #refine(): void {
    if (this.#isHopeless(this.#likeliest())) return;
    for (const step of POLICED_STEPS)
      this.#try(Math.min(MAX_POLICED_SHARE * this.#linkBps, step * this.#likeliest().value));
  }

  #try(bps: number): void {
    const { replays, queueMs } = this.#question;
    if (replays.isExhausted && this.#policers.length > 0) return;
    if (this.#policers.some(({ value }) => Math.abs(value / bps - 1) < SAME_RATE)) return;
    const { all } = replays.at(this.#linkBps, queueMs, { kind: 'policed', bps });
    this.#policers.push({ value: bps, logLikelihood: all });
    if (this.#isFound()) replays.allowForPolicer();
  }

  #likeliest(): LikelihoodPoint {
    return this.#policers.reduce((a, b) => (b.logLikelihood > a.logLikelihood ? b : a));
  }

  #isFound(): boolean {
    return this.#likeliest().logLikelihood > this.#apparent.all + CLEAR_LEAD;
  }

  #isHopeless({ logLikelihood }: LikelihoodPoint): boolean {
    return logLikelihood < this.#apparent.all - CLEAR_LEAD;
  }

  /** Weighs a policed path against an open one by Bayes' rule. */
  #weigh(): Pick<PolicerFit, 'policedShare' | 'logEvidence'> {
    const { open, priors } = this.#question;
    const { policedShare, downBps } = priors;
    const tcpAtLink = interpolated(likelihoodsOf(open, 'tcp'), this.#linkBps, 'falling');
    const logPoliced =
      logEvidence(this.#policedPrior, this.#policers, 'constant') -
      tcpAtLink +
      rateEvidence(downBps, open, 'tcp');
    const logOpen = rateEvidence(downBps, open, 'all');
    const odds = (policedShare / (1 - policedShare)) * Math.exp(Math.min(MAX_LOG_ODDS, logPoliced - logOpen));
    return {
      policedShare: Math.max(odds / (1 + odds), this.#mayRefute() ? 0 : policedShare),
      logEvidence: logSum([Math.log(policedShare) + logPoliced, Math.log(1 - policedShare) + logOpen]),
    };
  }

  /** Whether the load may refute a policer that earlier loads showed. */
  #mayRefute(): boolean {
    const { policedShare, policedBps } = this.#question.priors;
    return !isShownPoliced(policedShare) || this.#apparent.bps > REFUTING_RATE * policedBps.quantile(0.5);
  }

  /** Fits the link's rate under the likeliest policer. */
  #fitLink(): LogDensity {
    const { replays, queueMs, priors } = this.#question;
    const bps = this.#likeliest().value;
    const replayed = POLICED_RATES.map((factor) =>
      replays.at(factor * this.#linkBps, queueMs, { kind: 'policed', bps }),
    );
    return ratePosterior(priors.downBps, replayed, 'tcp').atLeast(HELD_SHARE * replays.recorded.tcpBps);
  }
}

/** Whether earlier loads showed that UDP is policed. @param policedShare probability of it before the load */
export const isShownPoliced = (policedShare: number): boolean => policedShare > 0.5;
