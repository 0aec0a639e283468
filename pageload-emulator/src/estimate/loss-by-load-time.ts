import type { LogDensity } from '../network/log-density.ts';
import type { PathAt } from './candidate-replays.ts';
import { AS_NONE } from './fit-loss.ts';
import type { PathFit } from './fit-path.ts';
import { loadTimeLikelihood } from './load-time-evidence.ts';
import { interpolated } from './log-likelihood.ts';
import type { PosteriorInput } from './posterior-input.ts';

/** Where the fitted loss has a lower median, the load time hardly depends on it. */
const SHOWN_LOSS = 0.003;
/** Lower likelihoods count as this: the page's graph has errors of its own. */
const MIN_LIKELIHOOD = 1e-6;

/**
 * Weighs random loss that replays show by the recorded load time. Requests that wait for a busy processor, hundreds at a time, look like ones that wait
 * for repairs; but the whole page, emulated with such losses, would take several times as long as it did.
 *
 * @returns the fit's density where it shows no loss, and where loss is known or not asked for, or the recording has no load time
 */
export function weighLossByLoadTime(
  { recording, graph, estimate, given, measured, udp, onlyRates }: PosteriorInput,
  { downBps, queueMs, loss }: PathFit,
  pathAt: PathAt,
): LogDensity {
  const shown = loss.quantile(0.5);
  const isKnown = given.loss !== undefined || measured.loss !== undefined;
  if (isKnown || onlyRates || shown < SHOWN_LOSS) return loss;
  const open = pathAt(given.downBps ?? downBps.quantile(0.5), queueMs.quantile(0.5));
  const path = { ...open, udp: udp ?? open.udp };
  const logLikelihoodOf = (rate: number) => {
    const likelihood = loadTimeLikelihood(recording, graph(), estimate.servers, [{ ...path, loss: rate }]);
    return likelihood === null ? null : Math.log(Math.max(MIN_LIKELIHOOD, likelihood));
  };
  const without = logLikelihoodOf(0);
  const withLoss = logLikelihoodOf(shown);
  // A load that took longer than without losses may have been slow for other reasons.
  if (without === null || withLoss === null || withLoss >= without) return loss;
  const points = [
    { value: AS_NONE, logLikelihood: without },
    { value: shown, logLikelihood: withLoss },
  ];
  return loss.given((rate) => interpolated(points, rate));
}
