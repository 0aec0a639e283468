import { type LoadTime, type MeasuredLoads, median, quantile } from '@hopwise/contract';
import type { Candidate } from './candidates.ts';

/** From this many measured loads of a candidate on, their median is its load time. */
const ENOUGH_LOADS = 3;

/** Measured loads by candidate. A measurement outweighs every prediction of the same thing. */
export class MeasuredTimes {
  readonly #loads = new Map<Candidate, { pltMs: number[]; ageMs: number }>();

  add(candidate: Candidate, { pltMs, ageMs }: Pick<MeasuredLoads, 'pltMs' | 'ageMs'>): void {
    const before = this.#loads.get(candidate);
    const all = [...(before?.pltMs ?? []), ...pltMs];
    this.#loads.set(candidate, { pltMs: all, ageMs: Math.min(ageMs, before?.ageMs ?? ageMs) });
  }

  [Symbol.iterator](): IterableIterator<[Candidate, { pltMs: number[]; ageMs: number }]> {
    return this.#loads.entries();
  }

  /** Median and 10th to 90th percentile of a candidate's loads; null for too few. */
  timeOf(candidate: Candidate): LoadTime | null {
    const pltMs = this.#loads.get(candidate)?.pltMs ?? [];
    if (pltMs.length < ENOUGH_LOADS) return null;
    return { pltMs: median(pltMs), low: quantile(pltMs, 0.1), high: quantile(pltMs, 0.9) };
  }

  /** Median of a candidate's loads, however few; null for none. */
  medianOf(candidate: Candidate): number | null {
    const pltMs = this.#loads.get(candidate)?.pltMs;
    return pltMs === undefined ? null : median(pltMs);
  }

  /** How much less time a candidate's loads took than a rival's in the median, milliseconds; null without loads of both. */
  gainMs(candidate: Candidate, rival: Candidate): number | null {
    const ownMs = this.medianOf(candidate);
    const rivalMs = this.medianOf(rival);
    return ownMs === null || rivalMs === null ? null : rivalMs - ownMs;
  }

  /** Compares two candidates whose measured ranges do not overlap: −1 when the first is faster, 1 when it is slower; else 0. */
  compare(candidate: Candidate, rival: Candidate): -1 | 0 | 1 {
    if (this.timeOf(candidate) === null || this.timeOf(rival) === null) return 0;
    const own = this.#loads.get(candidate)!.pltMs;
    const other = this.#loads.get(rival)!.pltMs;
    if (Math.max(...own) < Math.min(...other)) return -1;
    return Math.min(...own) > Math.max(...other) ? 1 : 0;
  }
}
