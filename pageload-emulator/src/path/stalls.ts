import type { Recording } from '../recording/recording.ts';
import { responseBytesOf } from '../recording/sizes.ts';
import { originOf } from '../url.ts';

const PACKET_BYTES = 1_430;
/** Responses with fewer packets seldom show a loss in their own timing. */
const LEAST_PACKETS = 8;
/** Fewer stalls than this are told from a slow server by nobody. */
const LEAST_STALLS = 4;
/** Timings tell "at most one in a thousand" from "one in a hundred", nothing finer. */
const LEAST_LOSS = 0.005;

/**
 * Random loss shown by responses that stalled: that took longer between first and last byte than
 * slow start and the link's rate explain, by at least most of a round trip, which is what a repair takes.
 *
 * @param rttOf round trip of an origin, milliseconds
 * @returns null when the recording shows no more than a prior would say
 */
export function lossFromStalls(
  recording: Recording,
  rttOf: (origin: string) => number,
  downBps: number,
): number | null {
  let packets = 0;
  let stalls = 0;
  for (const request of recording.requests) {
    const { responseStartMs } = request.phases;
    if (responseStartMs === null || request.fromCache || request.status === 0) continue;
    const bytes = responseBytesOf(request);
    const count = Math.ceil(bytes / PACKET_BYTES);
    if (count < LEAST_PACKETS) continue;
    const rttMs = rttOf(originOf(request.url) ?? '');
    const serialisedMs = (bytes * 8000) / downBps;
    // Rounds of slow start from the smallest initial window in use; what else shares the link doubles the rest.
    const rounds = Math.max(0, Math.ceil(Math.log2(count / 10 + 1)) - 1);
    const excessMs = request.endMs - responseStartMs - rounds * rttMs - 2 * serialisedMs;
    packets += count;
    if (excessMs > Math.max(0.8 * rttMs, 20)) stalls++;
  }
  if (stalls < LEAST_STALLS) return null;
  const loss = stalls / packets;
  return loss < LEAST_LOSS ? null : Math.min(0.03, loss);
}
