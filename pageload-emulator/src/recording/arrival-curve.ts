import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { responseBytesOf } from './sizes.ts';

/** Bytes on the wire for each response byte, with the TCP/IP headers of full packets. */
const WIRE_SHARE = 1.05;

/** Bytes of all responses that had arrived by a time, each response spread evenly from its first to its last byte. */
export class ArrivalCurve {
  /** Ascending; the rate is constant between two of them. */
  readonly timesMs: number[] = [];
  /** Bytes arrived by each time. */
  readonly bytes: number[] = [];

  constructor(requests: readonly RecordedRequest[]) {
    const changes: { atMs: number; slope: number }[] = [];
    for (const request of requests) {
      if (request.fromCache || request.status === 0) continue;
      // A typical size in place of a withheld one would invent a rate.
      if (request.transferBytes === null && request.bodyBytes === null) continue;
      const startMs = request.phases.responseStartMs ?? (request.startMs + request.endMs) / 2;
      const endMs = Math.max(request.endMs, startMs + 1);
      const slope = (responseBytesOf(request) * WIRE_SHARE) / (endMs - startMs);
      changes.push({ atMs: startMs, slope }, { atMs: endMs, slope: -slope });
    }
    changes.sort((a, b) => a.atMs - b.atMs);
    let bytes = 0;
    let slope = 0;
    for (const [index, change] of changes.entries()) {
      if (index > 0) bytes += Math.max(0, slope) * (change.atMs - changes[index - 1]!.atMs);
      slope += change.slope;
      this.timesMs.push(change.atMs);
      this.bytes.push(bytes);
    }
  }

  /** All bytes that arrived. */
  get total(): number {
    return this.bytes[this.bytes.length - 1] ?? 0;
  }

  /** Bytes arrived by `atMs`. */
  by(atMs: number): number {
    const { timesMs, bytes } = this;
    let low = 0;
    let high = timesMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timesMs[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    if (low === timesMs.length) return bytes[low - 1]!;
    const part = (atMs - timesMs[low - 1]!) / (timesMs[low]! - timesMs[low - 1]!);
    return bytes[low - 1]! + part * (bytes[low]! - bytes[low - 1]!);
  }

  /** For how long something arrived between two times, milliseconds; in all where none are given. */
  busyMs(fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): number {
    const { timesMs, bytes } = this;
    let sum = 0;
    for (let index = 1; index < timesMs.length; index++) {
      // Less is an error of rounding.
      if (bytes[index]! - bytes[index - 1]! < 1) continue;
      sum += Math.max(0, Math.min(toMs, timesMs[index]!) - Math.max(fromMs, timesMs[index - 1]!));
    }
    return sum;
  }

  /**
   * From when on a link was busy until a time: the first moment from `fromMs` on since which at least `bps` arrived on average, bits per
   * second; else the last change of the rate before that time.
   */
  busySince(fromMs: number, untilMs: number, bps: number): number {
    const { timesMs, bytes } = this;
    const arrived = this.by(untilMs);
    const isBusy = (sinceMs: number, before: number) =>
      arrived - before >= (bps / 8000) * (untilMs - sinceMs);
    if (isBusy(fromMs, this.by(fromMs))) return fromMs;
    let sinceMs = fromMs;
    for (let at = firstIndexWhere(timesMs, (ms) => ms > fromMs); at < timesMs.length; at++) {
      if (timesMs[at]! >= untilMs) break;
      sinceMs = timesMs[at]!;
      if (isBusy(sinceMs, bytes[at]!)) break;
    }
    return sinceMs;
  }

  /** Milliseconds that a link of `bps` takes for the bytes that arrived between two times. */
  transmission(fromMs: number, toMs: number, bps: number): number {
    return ((this.by(toMs) - this.by(fromMs)) * 8000) / bps;
  }
}
