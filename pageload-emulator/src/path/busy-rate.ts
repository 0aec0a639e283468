import type { Recording } from '../recording/recording.ts';
import { responseBytesOf } from '../recording/sizes.ts';

/** Bytes on the wire for each response byte: TCP/IP headers of full packets. */
const WIRE_SHARE = 1.05;
/** Windows that saw fewer bytes say nothing about a link. */
const LEAST_BYTES = 30_000;

/** What a recording shows of the downstream rate. */
export interface BusyRate {
  bps: number;
  /** Whether the link was seen full: several windows apart ran at nearly the highest rate. */
  saturated: boolean;
}

/**
 * Highest downstream rate held over a window: the bytes of all responses, each spread evenly over the
 * time in which it arrived. A lower bound of the link's rate, close to it where the page filled the link.
 *
 * @param windowMs long enough that bytes freed at once by a repaired loss do not look like a rate
 * @returns null when too little arrived
 */
export function busyRate(recording: Recording, windowMs: number): BusyRate | null {
  const arrivals: { startMs: number; endMs: number; bytes: number }[] = [];
  for (const request of recording.requests) {
    if (request.fromCache || request.status === 0) continue;
    // A withheld size must not invent a rate.
    if (request.transferBytes === null && request.bodyBytes === null) continue;
    const beginMs = request.phases.responseStartMs ?? (request.startMs + request.endMs) / 2;
    const endMs = Math.max(request.endMs, beginMs + 1);
    arrivals.push({ startMs: beginMs, endMs, bytes: responseBytesOf(request) * WIRE_SHARE });
  }
  const windows = windowRates(arrivals, windowMs);
  if (windows.length === 0) return null;
  let best = 0;
  for (const { bytesPerMs } of windows) best = Math.max(best, bytesPerMs);
  const full = windows.filter(({ bytesPerMs }) => bytesPerMs >= 0.8 * best);
  const span = full[full.length - 1]!.endMs - full[0]!.endMs;
  return { bps: best * 8000, saturated: span >= 2 * windowMs };
}

/** Rates of the windows that end where an arrival ends. */
function windowRates(
  arrivals: readonly { startMs: number; endMs: number; bytes: number }[],
  windowMs: number,
): { endMs: number; bytesPerMs: number }[] {
  // Slope changes of the curve of bytes arrived by t.
  const changes = arrivals
    .flatMap(({ startMs, endMs, bytes }) => {
      const slope = bytes / (endMs - startMs);
      return [
        { atMs: startMs, slope },
        { atMs: endMs, slope: -slope },
      ];
    })
    .sort((a, b) => a.atMs - b.atMs);
  const times: number[] = [];
  const arrived: number[] = [];
  let bytes = 0;
  let slope = 0;
  for (const change of changes) {
    const last = times[times.length - 1];
    if (last !== undefined) bytes += slope * (change.atMs - last);
    slope += change.slope;
    times.push(change.atMs);
    arrived.push(bytes);
  }
  const rates: { endMs: number; bytesPerMs: number }[] = [];
  let from = 0;
  for (let to = 1; to < times.length; to++) {
    const startMs = times[to]! - windowMs;
    while (from + 1 < to && times[from + 1]! <= startMs) from++;
    const stepMs = times[from + 1]! - times[from]!;
    const part = stepMs > 0 ? Math.min(1, Math.max(0, (startMs - times[from]!) / stepMs)) : 0;
    const before = arrived[from]! + part * (arrived[from + 1]! - arrived[from]!);
    const inWindow = arrived[to]! - before;
    if (inWindow >= LEAST_BYTES) rates.push({ endMs: times[to]!, bytesPerMs: inWindow / windowMs });
  }
  return rates;
}
