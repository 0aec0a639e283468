import type { Burst } from './burst.ts';

/**
 * Counts a sender's bursts and divides them into round trips: one ends with the first acknowledgement of what was sent after
 * it began.
 */
export class RoundTracker {
  /** Index of the burst that is sent next. */
  nextBurst = 0;
  #end = 0;
  /** Most packets in flight in this round and in the one before. */
  #maxInFlight = 0;
  #lastMaxInFlight = 0;
  #streams = 0;

  /** Notes how many responses are being sent; returns the most of them in this round. */
  noteStreams(streams: number): number {
    if (streams > this.#streams) this.#streams = streams;
    return this.#streams;
  }

  /** Notes the packets in flight after a burst was sent. */
  onSent(inFlight: number): void {
    if (inFlight > this.#maxInFlight) this.#maxInFlight = inFlight;
  }

  /** Notes an acknowledgement; returns whether a round begins with it. @param inFlight packets in flight after it */
  onAck(burst: Burst, inFlight: number): boolean {
    if (burst.index < this.#end) return false;
    this.#end = this.nextBurst;
    this.#lastMaxInFlight = this.#maxInFlight;
    this.#maxInFlight = inFlight;
    this.#streams = 0;
    return true;
  }

  /** Whether at least half of a window was in flight in this round or in the one before, which Linux counts as used in slow start. */
  isHalfUsed(window: number): boolean {
    return window < 2 * Math.max(this.#maxInFlight, this.#lastMaxInFlight);
  }
}
