import type { ResponseSource, Stream } from '../transport/stream.ts';
import { PriorityQueue } from '../util/priority-queue.ts';
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
  readonly #whole: (PriorityQueue<Stream> | null)[] = new Array<PriorityQueue<Stream> | null>(URGENCIES).fill(
    null,
  );
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
    return whole?.first ?? this.#inTurns[urgency]!.first;
  }

  get streams(): number {
    return this.#streams;
  }

  add(stream: Stream): void {
    this.#streams++;
    const urgency = this.#honoured ? stream.urgency : 0;
    this.#ready |= 1 << urgency;
    if (this.#honoured && !stream.incremental) {
      // A response that becomes ready late keeps the place of its request.
      this.#whole[urgency] ??= new PriorityQueue((a, b) => a.id < b.id);
      this.#whole[urgency].push(stream);
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
    const first = whole?.first;
    const inOrder = first !== undefined;
    const stream = first ?? turns.first;
    const share = inOrder ? room : Math.max(packetBytes, Math.ceil(room / turns.length));
    const bytes = Math.min(room, share, stream.unwritten);
    stream.unwritten -= bytes;
    if (stream.unwritten === 0) this.#streams--;
    if (!inOrder) turns.next(stream.unwritten > 0);
    else if (stream.unwritten === 0) whole!.shift();
    if (whole?.first === undefined && (turns === null || turns.length === 0)) {
      this.#ready &= ~(1 << urgency);
    }
    return bytes;
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
