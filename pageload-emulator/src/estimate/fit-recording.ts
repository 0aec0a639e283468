import type { NetworkPath, RecordedRequest } from '@hopwise/contract';
import { MIN_ESTIMATED_QUEUE_BYTES } from '../network/bounds.ts';
import { logNormal } from '../network/log-density.ts';
import { downBpsPrior, POLICED_BPS_PRIOR, QUEUE_MS_PRIOR } from '../network/priors.ts';
import { UDP_PRIOR } from '../network/udp-prior.ts';
import type { PathAt } from './candidate-replays.ts';
import { fitPath, type PathFit } from './fit-path.ts';
import { mixFits, posteriorOf } from './mix-fits.ts';
import type { PosteriorInput } from './posterior-input.ts';
import { randomLossPrior } from './random-loss.ts';
import { RecordingReplay } from './replay.ts';
import { upstreamRate } from './upstream-rate.ts';
import { assumeProtocols } from './withheld-protocols.ts';

/** Error of measured figures: standard deviation of the logarithm. */
const MEASURED_SPREAD = { downBps: 0.08, queueBytes: 0.2 };
/** Share of a reached rate that is taken as the lower bound: it may have been measured a little high. */
const REACHED = 0.9;

/** The path's posterior by replays, whatever protocols the recording withholds. */
export interface RecordedFit extends PathFit {
  /** Probability that the browser used no offer of HTTP/3 where the recording withholds what it did. */
  offersIgnored: number;
}

/** Returns the likeliest path at a rate and with a queue, on which no packet is lost at random. */
export function pathModel(input: PosteriorInput, rttMs: number): PathAt {
  const { given } = input;
  const upOf = new Map<number, number>();
  const upAt = (downBps: number): number => {
    const upBps = given.upBps ?? upOf.get(downBps) ?? upstreamRate(input, downBps).quantile(0.5);
    upOf.set(downBps, upBps);
    return upBps;
  };
  return (downBps, queueMs): NetworkPath => ({
    rttMs,
    downBps,
    upBps: upAt(downBps),
    loss: 0,
    lossBurst: 1,
    queueBytes: given.queueBytes ?? queueBytesOf(queueMs, downBps),
    udp: { kind: 'open' },
  });
}

/** Fits the path by replays of the recording under each assumption about the protocols that it withholds. */
export function fitRecording(input: PosteriorInput, rttMs: number, pathAt: PathAt): RecordedFit {
  const { recording, estimate, given, measured, prior, udp, onlyRates } = input;
  const { reachedBps = 0, downBps, queueBytes } = measured;
  const seenBps = Math.max(estimate.path.downBps, reachedBps);
  const reached = prior.density('downBps', downBpsPrior(rttMs)).atLeast(REACHED * reachedBps);
  const queue = prior.density('queueMs', QUEUE_MS_PRIOR);
  const priors = {
    downBps:
      downBps === undefined
        ? reached
        : reached.given((bps) => logNormal(bps, downBps, MEASURED_SPREAD.downBps)),
    loss: randomLossPrior(input, pathAt(given.downBps ?? downBps ?? seenBps, queue.quantile(0.5))),
    policedBps: prior.density('policedBps', POLICED_BPS_PRIOR),
    policedShare: prior.policed(UDP_PRIOR.policed),
    queueMs:
      queueBytes === undefined
        ? queue
        : queue.given((ms) => logNormal(queueBytesOf(ms, seenBps), queueBytes, MEASURED_SPREAD.queueBytes)),
  };
  const known = {
    downBps: given.downBps,
    udp: udp?.kind === 'blocked' ? ({ kind: 'open' } as const) : udp,
    queue: given.queueBytes !== undefined,
    loss: given.loss !== undefined,
  };
  const assumptions = assumeProtocols(recording, udp, rttMs);
  const quic = new Set(assumptions.flatMap(({ requests }) => requests.filter(isQuic).map(({ id }) => id)));
  const fits = assumptions.map(({ probability, requests }) => {
    const replay = new RecordingReplay({ ...recording, requests }, estimate, ({ id }) => quic.has(id));
    return { probability, fit: fitPath({ replay, pathAt, seenBps, priors, known, onlyRates }) };
  });
  const ignored = assumptions.findIndex(({ use }) => use === 'ignored');
  return { ...mixFits(fits), offersIgnored: ignored < 0 ? 0 : posteriorOf(fits)[ignored]! };
}

const isQuic = ({ protocol }: RecordedRequest) => protocol === 'h3';

/** Converts a queue's drain time at `downBps` to bytes. */
export function queueBytesOf(queueMs: number, downBps: number): number {
  return Math.max(MIN_ESTIMATED_QUEUE_BYTES, Math.round((downBps * queueMs) / 8000));
}
