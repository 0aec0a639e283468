import type { ResponseSource } from '../transport/response-source.ts';
import type { Stream } from '../transport/stream.ts';
import { URGENCIES } from './urgency-queue.ts';

/**
 * Decides whose response bytes a server sends next on a shared connection, by RFC 9218 section 10: lower urgency values
 * first; within one, non-incremental responses one after the other in order of request, then incremental ones in turns.
 *
 * A server that ignores priorities sends all responses in turns.
 */
export class PrioritySource implements ResponseSource {
  readonly #honoured: boolean;
  /** Non-incremental responses by urgency; null until the first. */
  readonly #whole: (RequestOrder | null)[] = new Array<RequestOrder | null>(URGENCIES).fill(null);
  readonly #inTurns: (Turns | null)[] = new Array<Turns | null>(URGENCIES).fill(null);
  /** One bit for each urgency with a response to send. */
  #ready = 0;
  #streams = 0;

  /** @param honoured whether the server follows the client's priorities */
  constructor(honoured: boolean) {
    this.#honoured = honoured;
  }

  get empty(): boolean {
    return this.#ready === 0;
  }

  get next(): Stream | null {
    if (this.#ready === 0) return null;
    const urgency = 31 - Math.clz32(this.#ready & -this.#ready);
    const whole = this.#whole[urgency]!;
    return whole !== null && whole.length > 0 ? whole.first : this.#inTurns[urgency]!.first;
  }

  get streams(): number {
    return this.#streams;
  }

  add(stream: Stream): void {
    this.#streams++;
    const urgency = this.#honoured ? stream.urgency : 0;
    this.#ready |= 1 << urgency;
    if (this.#honoured && !stream.incremental) {
      this.#whole[urgency] ??= new RequestOrder();
      // A response that becomes ready late keeps the place of its request.
      this.#whole[urgency].add(stream);
    } else {
      this.#inTurns[urgency] ??= new Turns();
      this.#inTurns[urgency].push(stream);
    }
  }

  take(room: number, packetBytes: number): number {
    if (this.#ready === 0) return 0;
    const urgency = 31 - Math.clz32(this.#ready & -this.#ready);
    const whole = this.#whole[urgency]!;
    const turns = this.#inTurns[urgency]!;
    const inOrder = whole !== null && whole.length > 0;
    const stream = inOrder ? whole.first : turns.first;
    const share = inOrder ? room : Math.max(packetBytes, Math.ceil(room / turns.length));
    const bytes = Math.min(room, share, stream.unwritten);
    stream.unwritten -= bytes;
    if (stream.unwritten === 0) this.#streams--;
    if (!inOrder) turns.next(stream.unwritten > 0);
    else if (stream.unwritten === 0) whole.removeFirst();
    if ((whole === null || whole.length === 0) && (turns === null || turns.length === 0)) {
      this.#ready &= ~(1 << urgency);
    }
    return bytes;
  }
}

/** Responses in order of their requests: a binary heap by `id`. */
class RequestOrder {
  readonly #heap: Stream[] = [];

  get length(): number {
    return this.#heap.length;
  }

  get first(): Stream {
    return this.#heap[0]!;
  }

  add(stream: Stream): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(stream);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.id < stream.id) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = stream;
  }

  removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && heap[child + 1]!.id < heap[child]!.id) child++;
      if (heap[child]!.id > last.id) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

/** Responses that take turns: a ring buffer. */
class Turns {
  /** Its length is a power of two. */
  #ring: Stream[] = new Array<Stream>(8);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): Stream {
    return this.#ring[this.#head]!;
  }

  push(stream: Stream): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#length++) & (this.#ring.length - 1)] = stream;
  }

  /** Ends the turn of the first response. @param again whether it goes to the end of the ring, or leaves it */
  next(again: boolean): void {
    const stream = this.first;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#length--;
    if (again) this.push(stream);
  }

  #grow(): void {
    const ring = new Array<Stream>(2 * this.#ring.length);
    for (let at = 0; at < this.#length; at++) {
      ring[at] = this.#ring[(this.#head + at) & (this.#ring.length - 1)]!;
    }
    this.#ring = ring;
    this.#head = 0;
  }
}

/** The source of an HTTP/1.1 connection, which has one response at a time. */
export class SingleSource implements ResponseSource {
  #stream: Stream | null = null;

  get empty(): boolean {
    return this.#stream === null;
  }

  get next(): Stream | null {
    return this.#stream;
  }

  get streams(): number {
    return this.#stream === null ? 0 : 1;
  }

  add(stream: Stream): void {
    this.#stream = stream;
  }

  take(room: number): number {
    const stream = this.#stream;
    if (stream === null) return 0;
    const bytes = Math.min(room, stream.unwritten);
    stream.unwritten -= bytes;
    if (stream.unwritten === 0) this.#stream = null;
    return bytes;
  }
}
