import type { Recording } from '@hopwise/contract';
import { responseBytesOf } from '../recording/sizes.ts';
import { originOf } from '../util/url.ts';
import type { ArrivalCurve } from './arrival-curve.ts';

const PACKET_BYTES = 1_430;
/** Responses with fewer packets seldom show a loss in their own timing. */
const MIN_PACKETS = 8;
/** Fewer stalls than this are told from a slow server by nobody. */
const MIN_STALLS = 4;
/** Timings tell "at most one in a thousand" from "one in a hundred", nothing finer. */
const MIN_LOSS = 0.005;
const MAX_LOSS = 0.03;
const PRIOR_SHAPE = 0.5;
const PRIOR_LOSS = 0.001;

/** Static files whose arrival was looked at. */
export interface Stalls {
  packets: number;
  stalls: number;
}

/**
 * Counts static files that stalled: that took longer between first and last byte than slow start and
 * all that arrived meanwhile explain, by at least most of a round trip, which is what a repair takes.
 *
 * @param rttOf round trip of an origin, milliseconds
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
    const count = Math.ceil(responseBytesOf(request) / PACKET_BYTES);
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

/** Random loss that the stalls show; null when they show no more than a prior would say. */
export function lossFromStalls({ packets, stalls }: Stalls): number | null {
  if (stalls < MIN_STALLS || stalls / packets < MIN_LOSS) return null;
  return Math.min(MAX_LOSS, stalls / packets);
}

/**
 * Random loss where none was seen: mean of the posterior after so many packets, from a Gamma prior of
 * shape 1/2 (Jeffreys) whose mean is the residual loss of links that are not called lossy.
 */
export function lossUnseen(packets: number): number {
  return PRIOR_SHAPE / (PRIOR_SHAPE / PRIOR_LOSS + packets);
}
