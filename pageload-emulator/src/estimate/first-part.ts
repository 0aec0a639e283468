import type { RecordedRequest } from '@hopwise/contract';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { responseBytesOf } from '../recording/sizes.ts';

/**
 * By this many bytes, or responses, a load has shown its network, and its connections what losses let through; replays of more are expensive
 * and add little. Chosen on generated pages (`test/estimate/heavy-loads.test.ts`): of 400 requests to 60 origins at 1% loss, the first 250
 * responses or 8 MB show hardly any loss.
 */
const MAX_BYTES = 20e6;
const MAX_RESPONSES = 600;

/** A transfer of the first part of a load. */
interface FirstTransfer {
  /** The request, its response cut to the part that had arrived. */
  request: RecordedRequest;
  /** Whether the response had arrived whole. */
  isWhole: boolean;
}

/**
 * Returns what a load transferred until it had shown its network. Without all that shared the link until then, a replay would fit a slower
 * one: responses that had arrived in part are cut, as if they had arrived evenly.
 */
export function firstPart(transfers: readonly RecordedRequest[]): FirstTransfer[] {
  const untilMs = endOfFirstPart(transfers);
  return transfers.flatMap((request): FirstTransfer[] => {
    if (request.endMs <= untilMs) return [{ request, isWhole: true }];
    const beginMs = request.phases.responseStartMs ?? (request.startMs + request.endMs) / 2;
    if (beginMs >= untilMs) return [];
    const share = (untilMs - beginMs) / (request.endMs - beginMs);
    const bytes = Math.round(share * responseBytesOf(request));
    return [{ request: { ...request, endMs: untilMs, transferBytes: Math.max(1, bytes) }, isWhole: false }];
  });
}

/** The first end of a response by which enough has arrived, milliseconds after navigationStart; infinite where it never has. */
function endOfFirstPart(transfers: readonly RecordedRequest[]): number {
  const arrivals = new ArrivalCurve(transfers);
  const ends = transfers.map(({ endMs }) => endMs).sort((a, b) => a - b);
  const last = ends.findIndex((ms, index) => index + 1 >= MAX_RESPONSES || arrivals.by(ms) >= MAX_BYTES);
  return ends[last] ?? Number.POSITIVE_INFINITY;
}
