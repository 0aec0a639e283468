import { logSum } from '../network/interpolation.ts';
import { type LogDensity, normalised } from '../network/log-density.ts';
import type { Replay, ReplayedRequest, ReplayedTimes } from './replay.ts';
import { type EndedResponses, endedResponses, replayedOrder } from './response-order.ts';

// Constants of the model of one response's time. They say how far an emulated time may be off and what a late response may
// have waited for; they were chosen by how probable they made the rates of networks whose rates were known.

/**
 * Spread of a time that was not held up: a clock's and a browser's milliseconds, a small share of the round trips that it
 * takes in any case, and a larger one of the rest.
 */
const CORE_MS = 4;
const ROUND_TRIP_SHARE = 0.03;
const TRANSFER_SHARE = 0.12;
/** Degrees of freedom of Student's t: heavier tails than a normal one's. */
const CORE_TAIL = 4;
/** A lost packet shows after most of a round trip (RFC 8985 section 6.2: something sent later is acknowledged). */
const MIN_STALL_RTT = 0.7;
/**
 * Beyond that it takes about so much longer: another round trip, a probe's timer; but now and then a second or more, as a
 * lost SYN does (RFC 6298 section 2.1).
 */
const STALL_RTT = 0.8;
const STALL_MS = 30;
/** So many losses at the most cost one after the other. */
const MAX_STALLS = 4;
/** How often responses are late by something that is no network's, and by how much on average. */
export interface OtherLateness {
  /** Of how many pages this is believed. */
  share: number;
  /** Share of responses whose servers had to think, which shows before the first byte. */
  beforeFirstByte: number;
  /** Share of responses that a busy browser was late for, or that came as they were made. */
  otherwise: number;
  meanMs: number;
}

/** Small pages of static files, ordinary ones, and those on which dozens of scripts of other companies keep a browser busy; assumed. */
export const OTHER_LATENESS: readonly OtherLateness[] = [
  { share: 0.7, beforeFirstByte: 0.08, otherwise: 0.02, meanMs: 120 },
  { share: 0.2, beforeFirstByte: 0.2, otherwise: 0.1, meanMs: 250 },
  { share: 0.1, beforeFirstByte: 0.4, otherwise: 0.3, meanMs: 500 },
];
/** Share of responses that come earlier than the emulator believes possible. */
const EARLY = 0.03;
/** No single response rules a network out. */
const TINY = 1e-9;
/**
 * Responses of one load tell less than as many independent ones: they share the link, its losses and the
 * emulator's errors. The logarithm of their likelihood counts by this share (a power posterior; Grünwald and van Ommen,
 * "Inconsistency of Bayesian Inference for Misspecified Linear Models", 2017).
 */
export const EVIDENCE_SHARE = 0.3;
/** So many responses over QUIC count whole: of few there is little to share, and hardly anything else tells what becomes of UDP. */
const WHOLE_QUIC_RESPONSES = 4;

/** Milliseconds by which a time without hold-ups may be off (one standard deviation). */
export function coreSpread(emulatedMs: number, request: ReplayedRequest, rttMs: number): number {
  const waitMs = Math.min(emulatedMs, request.roundTrips * rttMs);
  return CORE_MS + ROUND_TRIP_SHARE * waitMs + TRANSFER_SHARE * (emulatedMs - waitMs);
}

/**
 * How well times that were emulated without random loss explain a recording. What loss may have done to it is
 * averaged out: it holds responses up by a repair's time with a probability that grows with their packets. So is what servers and
 * the browser may have done.
 */
export class TimingLikelihood {
  readonly #replay: Replay;
  readonly #rttMs: number;
  readonly #losses: Float64Array;
  /** Of each other lateness with each loss. */
  readonly #logPrior: Float64Array;
  /** Of one response, by loss: how likely it stalls, and the density of its excess if it does. */
  readonly #stalls: { share: Float64Array; density: Float64Array };
  readonly #ended: readonly EndedResponses[];

  /** @param loss what is believed of events of loss per packet */
  constructor(replay: Replay, rttMs: number, loss: LogDensity) {
    this.#replay = replay;
    this.#rttMs = rttMs;
    // Every second one is enough for an average.
    this.#losses = loss.values.filter((_, index) => index % 2 === 0);
    const weights = loss.weights.filter((_, index) => index % 2 === 0);
    this.#logPrior = normalised(
      OTHER_LATENESS.flatMap(({ share }) => [...weights].map((weight) => Math.log(share * weight))),
    ).map(Math.log);
    this.#stalls = { share: new Float64Array(weights.length), density: new Float64Array(weights.length) };
    this.#ended = endedResponses(replay, rttMs);
  }

  /** Logarithm of the likelihood of all responses, and of those that came over TCP, up to a constant that only the recording moves. */
  of(times: ReplayedTimes): { all: number; tcp: number } {
    const cases = this.#losses.length * OTHER_LATENESS.length;
    const tcp = new Float64Array(cases);
    const all = new Float64Array(cases);
    for (const ended of this.#ended) {
      const replayed = replayedOrder(ended, times);
      const share = evidenceShare(ended);
      const sums = new Float64Array(cases);
      for (const [at, index] of ended.recorded.entries()) {
        const weight = ended.weights[at]!;
        if (weight > 0) this.#add(sums, weight, index, replayed[at]!, times);
      }
      for (const [at, sum] of sums.entries()) {
        all[at]! += share * sum;
        if (ended.transport === 'tcp') tcp[at]! += share * sum;
      }
    }
    const marginal = (sums: Float64Array) => logSum(sums.map((sum, index) => sum + this.#logPrior[index]!));
    return { all: marginal(all), tcp: marginal(tcp) };
  }

  /** @param like the replayed response that ended as the `index`th did in the recording */
  #add(sums: Float64Array, weight: number, index: number, like: number, times: ReplayedTimes): void {
    const request = this.#replay.requests[index]!;
    const { startMs, firstByteMs, endMs, packets } = request;
    const emulatedMs = Math.max(0, times.endMs[like]! - startMs);
    const excessMs = endMs - startMs - emulatedMs;
    const firstExcessMs = firstByteMs === null ? 0 : firstByteMs - times.firstByteMs[index]!;
    const isAfterFirst = firstExcessMs < excessMs / 2;
    const spreadMs = coreSpread(emulatedMs, request, this.#rttMs);
    const core = studentT(excessMs / spreadMs) / spreadMs;
    const early = excessMs < 0 ? EARLY / Math.max(emulatedMs, 50) : 0;
    const pastRttMs = excessMs - MIN_STALL_RTT * this.#rttMs;
    const typicalStallMs = STALL_RTT * this.#rttMs + STALL_MS;
    const stalls = this.#stalls;
    for (const [at, loss] of this.#losses.entries()) {
      const expected = loss * packets;
      const scaleMs = typicalStallMs * Math.min(MAX_STALLS, Math.max(1, expected));
      stalls.share[at] = 1 - Math.exp(-expected);
      stalls.density[at] = longDelay(pastRttMs, spreadMs, scaleMs);
    }
    let next = 0;
    for (const { beforeFirstByte, otherwise, meanMs } of OTHER_LATENESS) {
      const late = isAfterFirst ? otherwise : beforeFirstByte;
      const other = late * delay(excessMs, spreadMs, meanMs) + early;
      const onTime = 1 - late - EARLY;
      for (let at = 0; at < this.#losses.length; at++) {
        const stalled = stalls.share[at]!;
        const likelihood = onTime * ((1 - stalled) * core + stalled * stalls.density[at]!) + other;
        sums[next++]! += weight * Math.log(likelihood + TINY);
      }
    }
  }
}

function evidenceShare({ transport, weights }: EndedResponses): number {
  if (transport === 'tcp') return EVIDENCE_SHARE;
  const responses = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.min(1, Math.max(EVIDENCE_SHARE, WHOLE_QUIC_RESPONSES / responses));
}

/** Density of Student's t with four degrees of freedom. */
function studentT(x: number): number {
  return 0.375 * (1 + (x * x) / CORE_TAIL) ** -2.5;
}

/** An exponential delay, rounded off below 0 by the spread of a time. */
function delay(ms: number, spreadMs: number, meanMs: number): number {
  return Math.exp(ms > 0 ? -ms / meanMs : ms / spreadMs) / (meanMs + spreadMs);
}

/** The same with a tail like a power law's (Lomax, of shape 1.5). */
function longDelay(ms: number, spreadMs: number, scaleMs: number): number {
  const tail = ms > 0 ? (1 + ms / scaleMs) ** -2.5 : Math.exp(ms / spreadMs);
  return tail / (scaleMs / 1.5 + spreadMs);
}
