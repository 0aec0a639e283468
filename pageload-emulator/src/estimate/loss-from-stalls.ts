import type { Recording } from '@hopwise/contract';
import { PACKET } from '../network/packet.ts';
import type { ArrivalCurve } from '../recording/arrival-curve.ts';
import { responseBytesOf } from '../recording/sizes.ts';
import { originOf } from '../util/url.ts';

/** Responses of fewer packets seldom show a loss in their timing. */
const MIN_PACKETS = 8;
/** Fewer stalls cannot be distinguished from slow servers. */
const MIN_STALLS = 4;
/** Bounds of the estimate: timings distinguish a loss of 0.1% from one of 1%, nothing finer. */
const MIN_LOSS = 0.005;
const MAX_LOSS = 0.03;
const PRIOR_SHAPE = 0.5;
const PRIOR_LOSS = 0.001;

/** Packets of the static files that were examined, and how many of those files stalled. */
interface Stalls {
  packets: number;
  stalls: number;
}

/**
 * Counts static files that stalled: whose time between first and last byte exceeds what slow start and all concurrent arrivals
 * explain by most of a round trip, which a repair takes.
 *
 * @param rttOf round trip of an origin, milliseconds
 * @param downBps downstream rate, bits per second
 */
export function stallsOf(
  recording: Recording,
  arrivals: ArrivalCurve,
  rttOf: (origin: string) => number,
  downBps: number,
): Stalls {
  let packets = 0;
  let stalls = 0;
  for (const request of recording.requests) {
    const { responseStartMs } = request.phases;
    if (responseStartMs === null || request.fromCache || !/^(style|script|font|image)$/.test(request.type))
      continue;
    const count = Math.ceil(responseBytesOf(request) / PACKET.tcp.payloadBytes);
    if (count < MIN_PACKETS) continue;
    const rttMs = rttOf(originOf(request.url) ?? '');
    const arrivedMs = ((arrivals.by(request.endMs) - arrivals.by(responseStartMs)) * 8000) / downBps;
    // Rounds of slow start from the smallest initial window in use.
    const rounds = Math.max(0, Math.ceil(Math.log2(count / 10 + 1)) - 1);
    const excessMs = request.endMs - responseStartMs - rounds * rttMs - 1.5 * arrivedMs;
    packets += count;
    if (excessMs > Math.max(0.8 * rttMs, 20)) stalls++;
  }
  return { packets, stalls };
}

/** Estimates random loss from stalls, a fraction per packet; null when there are too few. */
export function lossFromStalls({ packets, stalls }: Stalls): number | null {
  if (stalls < MIN_STALLS || stalls / packets < MIN_LOSS) return null;
  return Math.min(MAX_LOSS, stalls / packets);
}

/**
 * Estimates random loss when no loss was observed: the posterior mean after `packets` packets, from a Gamma prior of shape 1/2
 * (Jeffreys) whose mean is the residual loss of ordinary links.
 */
export function lossUnseen(packets: number): number {
  return PRIOR_SHAPE / (PRIOR_SHAPE / PRIOR_LOSS + packets);
}
