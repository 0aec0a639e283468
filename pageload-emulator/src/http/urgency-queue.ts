import type { Stream } from '../transport/stream.ts';

/** RFC 9218 section 4.1. */
export const URGENCIES = 8;

const EMPTY_LANES: readonly null[] = new Array<null>(URGENCIES).fill(null);
const NO_HEADS: readonly number[] = new Array<number>(URGENCIES).fill(0);

/** Requests that wait: the most urgent first, then in order of arrival; in constant time. */
export class UrgencyQueue {
  readonly #lanes: (Stream[] | null)[] = EMPTY_LANES.slice();
  /** Where each lane begins. */
  readonly #heads = NO_HEADS.slice();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Of the request that is next; beyond all when there is none. */
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
