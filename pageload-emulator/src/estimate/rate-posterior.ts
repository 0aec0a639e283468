import { LogDensity } from '../network/log-density.ts';
import type { ReplayedRate } from './candidate-replays.ts';
import { interpolated, type LikelihoodPoint, logEvidence } from './log-likelihood.ts';

/** A link's rate is at least this share of one that recorded responses held. */
export const HELD_SHARE = 0.8;
/** The emulator's error: standard deviation of the logarithm of the best-fitting rate around the true one. */
const RATE_ERROR = 0.12;

/** Returns the rate whose replay explains all responses best. */
export function likeliestRate(replayed: readonly ReplayedRate[]): ReplayedRate {
  return replayed.reduce((a, b) => (b.all > a.all ? b : a));
}

/**
 * Returns the posterior of the downstream rate by replays at some rates.
 *
 * @param replayed ascending, at least one
 * @param which the responses that count: a policer's effect on UDP shows nothing of the link
 */
export function ratePosterior(
  prior: LogDensity,
  replayed: readonly ReplayedRate[],
  which: 'all' | 'tcp',
): LogDensity {
  const points = likelihoodsOf(replayed, which);
  const seen = prior.values.map((bps) => interpolated(points, bps, 'falling'));
  return prior.times(new LogDensity(prior.values, seen).blurred(RATE_ERROR));
}

/** Returns the log-evidence of the same replays: their likelihood averaged over the prior. */
export function rateEvidence(
  prior: LogDensity,
  replayed: readonly ReplayedRate[],
  which: 'all' | 'tcp',
): number {
  return logEvidence(prior, likelihoodsOf(replayed, which), 'falling');
}

/** Log-likelihoods by rate. */
export function likelihoodsOf(replayed: readonly ReplayedRate[], which: 'all' | 'tcp'): LikelihoodPoint[] {
  return replayed.map((each) => ({ value: each.bps, logLikelihood: each[which] }));
}
