import type { Stream } from '../transport/stream.ts';

/** RFC 9218 section 4.1. */
export const URGENCIES = 8;

/** Requests that wait: the most urgent first, then in order of arrival; in constant time. */
export class UrgencyQueue {
  readonly #lanes: (Stream[] | null)[] = new Array<Stream[] | null>(URGENCIES).fill(null);
  /** Where each lane begins. */
  readonly #heads = new Int32Array(URGENCIES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Of the request that is next; beyond all when there is none. */
  get urgency(): number {
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
