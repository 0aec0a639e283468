import type { Stream } from '../transport/stream.ts';

/** Number of urgency levels, 0 to 7 (RFC 9218 section 4.1). */
export const URGENCIES = 8;

const EMPTY_LANES: readonly null[] = new Array<null>(URGENCIES).fill(null);
const NO_HEADS: readonly number[] = new Array<number>(URGENCIES).fill(0);

/** A queue of requests by urgency, then order of arrival, with operations in constant time. */
export class UrgencyQueue {
  readonly #lanes: (Stream[] | null)[] = EMPTY_LANES.slice();
  /** Index of each lane's first request. */
  readonly #heads = NO_HEADS.slice();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Urgency of the next request; `URGENCIES` when the queue is empty. */
  get urgency(): number {
    if (this.#length === 0) return URGENCIES;
    for (let urgency = 0; urgency < URGENCIES; urgency++) {
      const lane = this.#lanes[urgency]!;
      if (lane !== null && this.#heads[urgency]! < lane.length) return urgency;
    }
    return URGENCIES;
  }

  push(stream: Stream, urgency = stream.urgency): void {
    const lane = this.#lanes[urgency]!;
    if (lane === null) this.#lanes[urgency] = [stream];
    else lane.push(stream);
    this.#length++;
  }

  shift(): Stream | undefined {
    const { urgency } = this;
    if (urgency === URGENCIES) return undefined;
    const lane = this.#lanes[urgency]!;
    const stream = lane[this.#heads[urgency]!++];
    if (this.#heads[urgency]! === lane.length) {
      this.#lanes[urgency] = null;
      this.#heads[urgency] = 0;
    }
    this.#length--;
    return stream;
  }
}
