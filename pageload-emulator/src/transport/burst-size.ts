import type { Stream } from './stream.ts';

/** Packets that pass the bottleneck, or the pacer, within this share of a round trip travel as one burst. */
export const BURST_SHARE = 1 / 16;
/** Share of a round trip for a response that other activities wait for in parts, and the least number of bursts in its flight. */
const PART_SHARE = 1 / 16;
const PARTS_PER_FLIGHT = 8;
const MIN_PART = 2;

/** Decides how many packets travel as one burst. */
export class BurstSize {
  readonly #usual: number;
  readonly #minPart: number;

  /**
   * @param roundTrip packets that the bottleneck carries in a round trip
   * @param least smallest burst of a response that no activity waits for in parts, packets
   */
  constructor(roundTrip: number, least: number) {
    this.#usual = Math.max(least, Math.ceil(roundTrip * BURST_SHARE));
    this.#minPart = roundTrip * PART_SHARE;
  }

  /** Returns the packets of a burst that begins with bytes of `next`. @param window congestion window, packets */
  packets(next: Stream | null, window: number): number {
    const inParts = next !== null && next.responseBytes - next.unsent < next.inPartsBytes;
    if (!inParts) return this.#usual;
    return Math.max(MIN_PART, Math.ceil(Math.max(window / PARTS_PER_FLIGHT, this.#minPart)));
  }
}
