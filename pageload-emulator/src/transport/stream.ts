/** A run of response bytes of one stream. */
export interface Segment {
  stream: Stream;
  bytes: number;
  /** Where it begins in its stream's `order`. */
  offset: number;
  /** Whether the response ends with it. */
  ends: boolean;
  /** When it arrived ahead of a gap. */
  heldSinceMs: number;
  /** Behind it in the queue that it is in. */
  next: Segment | null;
}

/** Segments to be used again: a load has thousands of them, a few at a time. */
export class SegmentPool {
  #unused: Segment | null = null;

  create(stream: Stream, offset: number, bytes: number, ends: boolean): Segment {
    const segment = this.#unused;
    if (segment === null) return { stream, bytes, offset, ends, heldSinceMs: 0, next: null };
    this.#unused = segment.next;
    segment.stream = stream;
    segment.bytes = bytes;
    segment.offset = offset;
    segment.ends = ends;
    return segment;
  }

  free(segment: Segment): void {
    segment.next = this.#unused;
    this.#unused = segment;
  }
}

/** Segments in order. */
export class SegmentQueue {
  first: Segment | null = null;
  #last: Segment | null = null;

  push(segment: Segment): void {
    segment.next = null;
    if (this.first === null) this.first = segment;
    else this.#last!.next = segment;
    this.#last = segment;
  }

  shift(): Segment | null {
    const { first } = this;
    if (first !== null) this.first = first.next;
    return first;
  }

  /** Moves what is in `other` behind what is here. */
  append(other: SegmentQueue): void {
    if (other.first === null) return;
    if (this.first === null) this.first = other.first;
    else this.#last!.next = other.first;
    this.#last = other.#last;
    other.first = null;
  }

  /** Takes the first segment, or as much of it as `bytes`. */
  shiftBytes(bytes: number): Segment | null {
    const { first } = this;
    if (first === null || first.bytes <= bytes) return this.shift();
    const { stream, offset, heldSinceMs } = first;
    const front: Segment = { stream, bytes, offset, ends: false, heldSinceMs, next: null };
    first.bytes -= bytes;
    first.offset += bytes;
    return front;
  }
}

/**
 * Bytes that must be handed up in the order in which they were first sent: a whole TCP connection,
 * or one QUIC stream (RFC 9000 section 2.2). What arrives behind a gap waits here.
 */
export class ByteOrder {
  /** Bytes sent for the first time, and handed up. */
  sent = 0;
  delivered = 0;
  /** By offset. */
  #held: Segment | null = null;
  #lastHeld: Segment | null = null;

  get holds(): boolean {
    return this.#held !== null;
  }

  hold(segment: Segment): void {
    let before: Segment | null = null;
    if (this.#held !== null && this.#lastHeld!.offset < segment.offset) {
      before = this.#lastHeld;
    } else {
      let next = this.#held;
      while (next !== null && next.offset < segment.offset) {
        before = next;
        next = next.next;
      }
    }
    segment.next = before === null ? this.#held : before.next;
    if (before === null) this.#held = segment;
    else before.next = segment;
    if (segment.next === null) this.#lastHeld = segment;
  }

  /** The held segment whose turn it is. */
  release(): Segment | null {
    const segment = this.#held;
    if (segment === null || segment.offset !== this.delivered) return null;
    this.#held = segment.next;
    return segment;
  }
}

/** Whoever waits for a response. */
export interface StreamOwner {
  /** `stream.received` has grown. */
  onData(stream: Stream): void;
}

/** One request and its response. Sizes are bytes, times milliseconds after navigationStart. */
export interface Stream {
  owner: StreamOwner;
  /** The owner's own mark. */
  readonly id: number;
  /** RFC 9218. */
  readonly urgency: number;
  readonly incremental: boolean;
  requestBytes: number;
  readonly responseBytes: number;
  /** Server's time between the request's last byte and the response's first. */
  readonly thinkMs: number;
  /** Of the response's first bytes this many are waited for in parts. */
  readonly inPartsBytes: number;
  /** Response bytes not yet sent for the first time. */
  unsent: number;
  /** Response bytes handed to the page. */
  received: number;
  order: ByteOrder;
  /** When the browser wanted it. */
  readonly startMs: number;
  /** When the request left on a ready connection; negative before. */
  sentMs: number;
  /** When the first byte was handed up; negative before. */
  firstByteMs: number;
}
