import type { NetworkPath } from '@hopwise/contract';
import type { LogDensity } from '../network/log-density.ts';
import { Lateness } from './lateness.ts';
import { interpolated, type LikelihoodPoint } from './log-likelihood.ts';
import type { RecordingReplay } from './replay.ts';

/** Loss rates to replay with, ascending. */
const LOSSES = [0.003, 0.01, 0.02, 0.04, 0.08];
const SEEDS = [1, 2];
/** A log-likelihood this far below the best ends the search: higher loss fits still worse. */
const HOPELESS = 4;
/** Replays without loss represent rates up to this, in loss events per packet. */
export const AS_NONE = 3e-4;

/**
 * Fits random loss by replaying a recording with loss and comparing histograms of how late responses are. Histograms are
 * compared rather than single responses, as it is random which of them a loss hits (indirect inference; Gourieroux, Monfort
 * and Renault 1993). All costs of losses are in them: repairs, timers, reduced windows, lost handshake packets.
 *
 * @param path the likeliest path; its loss is ignored
 * @param counts which responses count: those over TCP only where UDP is known to be policed, as what a policer drops, and when, depends on
 *   its bucket, or to lose packets of its own
 * @param afford whether the budget allows another replay of that many events
 */
export function fitLoss(
  replay: RecordingReplay,
  path: NetworkPath,
  prior: LogDensity,
  counts: 'all' | 'tcp',
  afford: (events: number) => boolean,
): LogDensity {
  const clean = replay.run({ ...path, loss: 0 });
  const lateness = new Lateness(replay, path.rttMs, clean, counts);
  if (lateness.responses === 0) return prior;
  const points: LikelihoodPoint[] = [{ value: AS_NONE, logLikelihood: lateness.logLikelihood([clean]) }];
  let best = points[0]!.logLikelihood;
  for (const loss of LOSSES) {
    if (!afford(clean.events * SEEDS.length)) break;
    const times = SEEDS.map((seed) => replay.run({ ...path, loss, lossBurst: 1 }, seed));
    const logLikelihood = lateness.logLikelihood(times);
    points.push({ value: loss, logLikelihood });
    best = Math.max(best, logLikelihood);
    if (logLikelihood < best - HOPELESS) break;
  }
  return prior.given((loss) => interpolated(points, loss));
}
