import { normalCdf } from '@hopwise/contract';
import { logSum } from './log-likelihood.ts';
import type { RecordingReplay, ReplayedRequest, ReplayedTimes } from './replay.ts';
import { type EndedResponses, EVIDENCE_SHARE, endedResponses, replayedOrder } from './response-order.ts';
import { coreSpread } from './timing-likelihood.ts';

/** Edges of the histogram of lateness relative to a replay without loss, in units of a round trip plus 20 ms. */
const EDGES = [-0.5, 0.35, 1, 2, 4, 8, 16];
const UNIT_MS = 20;
const BINS = EDGES.length + 1;
/** Pseudocount of each bin, responses. */
const SMOOTHING = 0.1;
/**
 * The most packets of small and of middling responses. Each class of size has a histogram of its own: losses hit large responses more often
 * than small ones, servers and processors delay both alike.
 */
const MAX_PACKETS = [3, 12];
const SIZE_CLASSES = MAX_PACKETS.length + 1;

/**
 * The share of responses that are late for reasons other than the network, and how probable each share is: with dozens of third parties, or on a busy
 * machine, it may be nearly all of them. Assumed. It reaches further than `timing-likelihood.ts`, which rates each response for many rates and
 * has to be cheaper.
 */
const OTHERWISE_LATE = [
  { share: 0.05, probability: 0.55 },
  { share: 0.15, probability: 0.2 },
  { share: 0.35, probability: 0.12 },
  { share: 0.65, probability: 0.08 },
  { share: 0.9, probability: 0.05 },
];
/** By how much these are late in the mean, milliseconds; each as probable as the others. */
const OTHERWISE_MS = [60, 120, 250, 500, 1000];

/** What replays may miss of every response alike. */
interface Bias {
  probability: number;
  /** Time of servers and processors, milliseconds. */
  ms: number;
  /** Share of each response's transfer, where the replayed rate is not quite right. */
  transferShare: number;
}

/**
 * A delay that all responses have in common is none of losses, which hit some of them. Without these, each of a large page's hundreds of
 * responses would count as evidence of losses. Assumed: a few milliseconds, and half the error of a fitted rate and all of it. They are
 * held to be improbable, as what a small page shows would not tell them from losses.
 */
const BIASES: readonly Bias[] = [
  { probability: 0.02, ms: 0, transferShare: -0.06 },
  { probability: 0.92, ms: 0, transferShare: 0 },
  { probability: 0.04, ms: 8, transferShare: 0.06 },
  { probability: 0.02, ms: 16, transferShare: 0.12 },
];

/** Histograms of how late responses are, one for each class of size. */
type Histograms = readonly Float64Array[];

const emptyHistograms = (): Histograms => Array.from({ length: SIZE_CLASSES }, () => new Float64Array(BINS));

/** How late responses are, relative to a replay without loss. */
export class Lateness {
  readonly #replay: RecordingReplay;
  readonly #rttMs: number;
  readonly #ended: readonly EndedResponses[];
  /** Ends without loss, ascending, for each of `#ended`. */
  readonly #cleanMs: readonly Float64Array[];
  readonly #recorded = emptyHistograms();
  /** Number of responses; those that ended together count as one. */
  readonly responses: number;

  /**
   * @param clean the replay without loss
   * @param counts which responses count
   */
  constructor(replay: RecordingReplay, rttMs: number, clean: ReplayedTimes, counts: 'all' | 'tcp') {
    this.#replay = replay;
    this.#rttMs = rttMs;
    const ended = endedResponses(replay, rttMs);
    this.#ended = counts === 'tcp' ? ended.filter(({ transport }) => transport === 'tcp') : ended;
    this.#cleanMs = this.#ended.map((ended) => endsOf(ended, clean));
    let responses = 0;
    this.#each((index, weight, cleanMs) => {
      const late = (replay.requests[index]!.endMs - cleanMs) / this.#unitMs;
      this.#recorded[sizeClassOf(replay.requests[index]!)]![binOf(late)]! += weight;
      responses += weight;
    });
    this.responses = responses;
  }

  /** Log-likelihood of the recorded lateness if it is distributed as in these replays. */
  logLikelihood(replays: readonly ReplayedTimes[]): number {
    return logSum(BIASES.map((bias) => Math.log(bias.probability) + this.#logLikelihoodWith(bias, replays)));
  }

  #logLikelihoodWith({ ms, transferShare }: Bias, replays: readonly ReplayedTimes[]): number {
    // Expected responses in each bin: delayed by the network and the emulator's error only, and by each other lateness.
    const byNetwork = emptyHistograms();
    const otherwise = OTHERWISE_MS.map((meanMs) => ({
      mean: meanMs / this.#unitMs,
      late: emptyHistograms(),
    }));
    for (const times of replays) {
      const ends = this.#ended.map((ended) => endsOf(ended, times));
      this.#each((index, weight, cleanMs, group, at) => {
        const request = this.#replay.requests[index]!;
        const cleanlyMs = Math.max(0, cleanMs - request.startMs);
        const transferMs = Math.max(0, cleanlyMs - request.roundTrips * this.#rttMs);
        const spread = coreSpread(cleanlyMs, request, this.#rttMs) / this.#unitMs;
        const late = (ends[group]![at]! - cleanMs + ms + transferShare * transferMs) / this.#unitMs;
        const count = weight / replays.length;
        const size = sizeClassOf(request);
        addBins(byNetwork[size]!, count, (edge) => normalCdf((edge - late) / spread));
        for (const { mean, late: histograms } of otherwise)
          addBins(histograms[size]!, count, (edge) =>
            edge <= late ? 0 : 1 - Math.exp((late - edge) / mean),
          );
      });
    }
    return logSum(
      OTHERWISE_LATE.flatMap(({ share, probability }) =>
        otherwise.map(
          ({ late }) =>
            Math.log(probability / OTHERWISE_MS.length) +
            EVIDENCE_SHARE * this.#logProbability(share, byNetwork, late),
        ),
      ),
    );
  }

  /**
   * The logarithm of the probability of the recorded histograms.
   *
   * @param share of responses that are distributed as in `late`; the others are as in `onTime`
   */
  #logProbability(share: number, onTime: Histograms, late: Histograms): number {
    let sum = 0;
    for (const [size, recorded] of this.#recorded.entries()) {
      const responses = recorded.reduce((total, count) => total + count, 0);
      for (const [bin, count] of recorded.entries()) {
        const expected = (1 - share) * onTime[size]![bin]! + share * late[size]![bin]!;
        sum += count * Math.log((Math.max(0, expected) + SMOOTHING) / (responses + SMOOTHING * BINS));
      }
    }
    return sum;
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

/** The index of a response's class of size. */
function sizeClassOf({ packets }: ReplayedRequest): number {
  const size = MAX_PACKETS.findIndex((most) => packets <= most);
  return size < 0 ? MAX_PACKETS.length : size;
}

function binOf(late: number): number {
  let bin = 0;
  while (bin < EDGES.length && late > EDGES[bin]!) bin++;
  return bin;
}
