import { type LogDensity, normalised } from '../network/log-density.ts';
import { logSum } from './log-likelihood.ts';
import type { RecordingReplay, ReplayedRequest, ReplayedTimes } from './replay.ts';
import { type EndedResponses, endedResponses, replayedOrder } from './response-order.ts';

// Constants of the model of one response's time: the error of emulated times, and the causes of late responses. They were
// chosen to maximise the probability of the true rates of known networks.

/**
 * Standard deviation of the time of a response that was not delayed: some milliseconds of clock and browser, a small share of
 * its minimum round trips and a larger share of the rest.
 */
const CORE_MS = 4;
const ROUND_TRIP_SHARE = 0.03;
const TRANSFER_SHARE = 0.12;
/** Degrees of freedom of Student's t distribution, whose tails are heavier than a normal distribution's. */
const CORE_TAIL = 4;
/** A loss is detected after most of a round trip (RFC 8985 section 6.2: a later packet is acknowledged). */
const MIN_STALL_RTT = 0.7;
/**
 * Typical further delay of a repair: another round trip, a probe's timer. Occasionally it is a second or more, as for a lost
 * SYN (RFC 6298 section 2.1).
 */
const STALL_RTT = 0.8;
const STALL_MS = 30;
/** At most this many losses of a response delay it one after the other. */
const MAX_STALLS = 4;
/** How often responses are late for reasons other than the network, and by how much on average. */
interface OtherLateness {
  /** Prior share of pages of this kind. */
  share: number;
  /** Share of responses delayed by their servers, before the first byte. */
  beforeFirstByte: number;
  /** Share of responses delayed by a busy browser, or streamed by their servers as they were generated. */
  otherwise: number;
  meanMs: number;
}

/** Small pages of static files, ordinary pages, and pages on which dozens of third-party scripts keep the browser busy; assumed. */
const OTHER_LATENESS: readonly OtherLateness[] = [
  { share: 0.7, beforeFirstByte: 0.08, otherwise: 0.02, meanMs: 120 },
  { share: 0.2, beforeFirstByte: 0.2, otherwise: 0.1, meanMs: 250 },
  { share: 0.1, beforeFirstByte: 0.4, otherwise: 0.3, meanMs: 500 },
];
/** Share of responses that arrive earlier than emulated. */
const EARLY = 0.03;
/** Minimum likelihood of a response, so that none alone excludes a network. */
const TINY = 1e-9;
/** Standard deviation of the time of a response that was not delayed, milliseconds. */
export function coreSpread(emulatedMs: number, request: ReplayedRequest, rttMs: number): number {
  const waitMs = Math.min(emulatedMs, request.roundTrips * rttMs);
  return CORE_MS + ROUND_TRIP_SHARE * waitMs + TRANSFER_SHARE * (emulatedMs - waitMs);
}

/**
 * Likelihood of a recording's response times, given times emulated without random loss. The effect of loss is averaged over its
 * prior: a loss delays a response by the time of a repair, with a probability that grows with its packets. Delays by servers and
 * the browser are averaged out alike.
 */
export class TimingLikelihood {
  readonly #replay: RecordingReplay;
  readonly #rttMs: number;
  readonly #losses: Float64Array;
  /** Log prior of each combination of other lateness and loss. */
  readonly #logPrior: Float64Array;
  /** For each response, by loss: how many losses may delay it, and the probability that one does. */
  readonly #stalls: readonly { expected: Float64Array; share: Float64Array }[];
  /** For the current response, by loss: the density of its delay given a stall. */
  readonly #stallDensity: Float64Array;
  readonly #ended: readonly EndedResponses[];

  /** @param loss prior of loss events per packet */
  constructor(replay: RecordingReplay, rttMs: number, loss: LogDensity) {
    this.#replay = replay;
    this.#rttMs = rttMs;
    // Every second value suffices for an average.
    this.#losses = loss.values.filter((_, index) => index % 2 === 0);
    const weights = loss.weights.filter((_, index) => index % 2 === 0);
    this.#logPrior = normalised(
      OTHER_LATENESS.flatMap(({ share }) => [...weights].map((weight) => Math.log(share * weight))),
    ).map(Math.log);
    this.#stalls = replay.requests.map(({ packets }) => {
      const expected = this.#losses.map((loss) => loss * packets);
      return { expected, share: expected.map((losses) => 1 - Math.exp(-losses)) };
    });
    this.#stallDensity = new Float64Array(weights.length);
    this.#ended = endedResponses(replay, rttMs);
  }

  /** Log-likelihood of all responses, and of those over TCP, up to a constant that depends only on the recording. */
  of(times: ReplayedTimes): { all: number; tcp: number } {
    const cases = this.#losses.length * OTHER_LATENESS.length;
    const tcp = new Float64Array(cases);
    const all = new Float64Array(cases);
    for (const ended of this.#ended) {
      const replayed = replayedOrder(ended, times);
      const sums = new Float64Array(cases);
      for (let at = 0; at < replayed.length; at++) {
        const weight = ended.weights[at]! * ended.shares[at]!;
        if (weight > 0) this.#add(sums, weight, ended.recorded[at]!, replayed[at]!, times);
      }
      for (let at = 0; at < cases; at++) {
        all[at]! += sums[at]!;
        if (ended.transport === 'tcp') tcp[at]! += sums[at]!;
      }
    }
    const marginal = (sums: Float64Array) => logSum(sums.map((sum, index) => sum + this.#logPrior[index]!));
    return { all: marginal(all), tcp: marginal(tcp) };
  }

  /** @param like the replayed response whose place in order of ends is that of response `index` in the recording */
  #add(sums: Float64Array, weight: number, index: number, like: number, times: ReplayedTimes): void {
    const request = this.#replay.requests[index]!;
    const { startMs, firstByteMs, endMs } = request;
    const emulatedMs = Math.max(0, times.endMs[like]! - startMs);
    const excessMs = endMs - startMs - emulatedMs;
    const firstExcessMs = firstByteMs === null ? 0 : firstByteMs - times.firstByteMs[index]!;
    const isAfterFirst = firstExcessMs < excessMs / 2;
    const spreadMs = coreSpread(emulatedMs, request, this.#rttMs);
    const core = studentT(excessMs / spreadMs) / spreadMs;
    const early = excessMs < 0 ? EARLY / Math.max(emulatedMs, 50) : 0;
    const pastRttMs = excessMs - MIN_STALL_RTT * this.#rttMs;
    const typicalStallMs = STALL_RTT * this.#rttMs + STALL_MS;
    const { expected, share } = this.#stalls[index]!;
    const density = this.#stallDensity;
    let formerScaleMs = 0;
    for (let at = 0; at < expected.length; at++) {
      const scaleMs = typicalStallMs * Math.min(MAX_STALLS, Math.max(1, expected[at]!));
      // At low losses one loss is typical, and at high ones the most that count.
      density[at] = scaleMs === formerScaleMs ? density[at - 1]! : longDelay(pastRttMs, spreadMs, scaleMs);
      formerScaleMs = scaleMs;
    }
    let next = 0;
    for (const { beforeFirstByte, otherwise, meanMs } of OTHER_LATENESS) {
      const late = isAfterFirst ? otherwise : beforeFirstByte;
      const other = late * delay(excessMs, spreadMs, meanMs) + early;
      const onTime = 1 - late - EARLY;
      for (let at = 0; at < density.length; at++) {
        const stalled = share[at]!;
        const likelihood = onTime * ((1 - stalled) * core + stalled * density[at]!) + other;
        sums[next++]! += weight * Math.log(likelihood + TINY);
      }
    }
  }
}

/** Density of Student's t with four degrees of freedom. */
function studentT(x: number): number {
  return 0.375 * (1 + (x * x) / CORE_TAIL) ** -2.5;
}

/** Density of an exponential delay, with a tail below 0 of the width of `spreadMs`. */
function delay(ms: number, spreadMs: number, meanMs: number): number {
  return Math.exp(ms > 0 ? -ms / meanMs : ms / spreadMs) / (meanMs + spreadMs);
}

/** Density of a delay like `delay`'s, with a power-law tail (Lomax distribution of shape 1.5). */
function longDelay(ms: number, spreadMs: number, scaleMs: number): number {
  const tail = ms > 0 ? (1 + ms / scaleMs) ** -2.5 : Math.exp(ms / spreadMs);
  return tail / (scaleMs / 1.5 + spreadMs);
}
