import type { NetworkPath } from '@hopwise/contract';
import { normalCdf } from '@hopwise/contract';
import { interpolated, type LikelihoodPoint, logSum } from '../network/interpolation.ts';
import type { LogDensity } from '../network/log-density.ts';
import type { RecordingReplay, ReplayedTimes } from './replay.ts';
import { type EndedResponses, EVIDENCE_SHARE, endedResponses, replayedOrder } from './response-order.ts';
import { coreSpread, OTHER_LATENESS } from './timing-likelihood.ts';

/** Loss rates to replay with, ascending. */
const LOSSES = [0.003, 0.01, 0.02, 0.04, 0.08];
const SEEDS = [1, 2];
/** A log-likelihood this far below the best ends the search: higher loss fits still worse. */
const HOPELESS = 4;
/** Replays without loss represent rates up to this, in loss events per packet. */
export const AS_NONE = 3e-4;
/** Edges of the histogram of lateness relative to a replay without loss, in units of a round trip plus 20 ms. */
const EDGES = [-0.5, 0.35, 1, 2, 4, 8, 16];
const UNIT_MS = 20;
/** Pseudocount of each bin, responses. */
const SMOOTHING = 0.1;

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

/** Histogram of how late responses are, relative to a replay without loss. */
class Lateness {
  readonly #replay: RecordingReplay;
  readonly #rttMs: number;
  readonly #ended: readonly EndedResponses[];
  /** Ends without loss, ascending, for each of `#ended`. */
  readonly #cleanMs: readonly Float64Array[];
  readonly #recorded = new Float64Array(EDGES.length + 1);
  /** Number of responses; those that ended together count as one. */
  readonly responses: number;

  constructor(replay: RecordingReplay, rttMs: number, clean: ReplayedTimes, counts: 'all' | 'tcp') {
    this.#replay = replay;
    this.#rttMs = rttMs;
    const ended = endedResponses(replay, rttMs);
    this.#ended = counts === 'tcp' ? ended.filter(({ transport }) => transport === 'tcp') : ended;
    this.#cleanMs = this.#ended.map((ended) => endsOf(ended, clean));
    let responses = 0;
    this.#each((index, weight, cleanMs) => {
      const late = (replay.requests[index]!.endMs - cleanMs) / this.#unitMs;
      this.#recorded[binOf(late)]! += weight;
      responses += weight;
    });
    this.responses = responses;
  }

  /** Log-likelihood of the recorded lateness if it is distributed as in these replays. */
  logLikelihood(replays: readonly ReplayedTimes[]): number {
    const bins = EDGES.length + 1;
    // Expected responses in each bin: delayed by the network and the emulator's error only, and by each other lateness.
    const byNetwork = new Float64Array(bins);
    const byOther = OTHER_LATENESS.map(() => new Float64Array(bins));
    for (const times of replays) {
      const ends = this.#ended.map((ended) => endsOf(ended, times));
      this.#each((index, weight, cleanMs, group, at) => {
        const request = this.#replay.requests[index]!;
        const spread =
          coreSpread(Math.max(0, cleanMs - request.startMs), request, this.#rttMs) / this.#unitMs;
        const late = (ends[group]![at]! - cleanMs) / this.#unitMs;
        const count = weight / replays.length;
        addBins(byNetwork, count, (edge) => normalCdf((edge - late) / spread));
        for (const [other, { meanMs }] of OTHER_LATENESS.entries()) {
          const mean = meanMs / this.#unitMs;
          addBins(byOther[other]!, count, (edge) => (edge <= late ? 0 : 1 - Math.exp((late - edge) / mean)));
        }
      });
    }
    const total = this.responses + SMOOTHING * bins;
    return logSum(
      OTHER_LATENESS.map(({ share, beforeFirstByte, otherwise }, other) => {
        const late = (beforeFirstByte + otherwise) / 2;
        let sum = 0;
        for (const [bin, recorded] of this.#recorded.entries()) {
          const expected = (1 - late) * byNetwork[bin]! + late * byOther[other]![bin]!;
          sum += recorded * Math.log((Math.max(0, expected) + SMOOTHING) / total);
        }
        return Math.log(share) + EVIDENCE_SHARE * sum;
      }),
    );
  }

  get #unitMs(): number {
    return this.#rttMs + UNIT_MS;
  }

  #each(visit: (index: number, weight: number, cleanMs: number, group: number, at: number) => void): void {
    for (const [group, { recorded, weights }] of this.#ended.entries()) {
      for (const [at, index] of recorded.entries()) {
        if (weights[at]! > 0) visit(index, weights[at]!, this.#cleanMs[group]![at]!, group, at);
      }
    }
  }
}

/** Adds `count` responses whose lateness has the cumulative distribution `cdf`. */
function addBins(bins: Float64Array, count: number, cdf: (edge: number) => number): void {
  let below = 0;
  for (let bin = 0; bin < bins.length; bin++) {
    const upTo = bin < EDGES.length ? cdf(EDGES[bin]!) : 1;
    bins[bin]! += count * (upTo - below);
    below = upTo;
  }
}

function endsOf(ended: EndedResponses, times: ReplayedTimes): Float64Array {
  return Float64Array.from(replayedOrder(ended, times), (index) => times.endMs[index]!);
}

function binOf(late: number): number {
  let bin = 0;
  while (bin < EDGES.length && late > EDGES[bin]!) bin++;
  return bin;
}
