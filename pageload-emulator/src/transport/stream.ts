import type { ByteOrder } from './head-of-line-blocking.ts';

/** A run of response bytes of one stream. */
export interface Segment {
  stream: Stream;
  bytes: number;
  /** Where it begins in its stream's `order`. */
  offset: number;
  /** Whether the response ends with it. */
  ends: boolean;
  /** When it arrived behind a gap. */
  heldSinceMs: number;
  /** The one behind it in its queue. */
  next: Segment | null;
}

/** Reuses segments: a load has thousands of them, a few at a time. */
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

/** A linked list of segments, first in, first out. */
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

  /** Moves all segments of `other` to the end. */
  append(other: SegmentQueue): void {
    if (other.first === null) return;
    if (this.first === null) this.first = other.first;
    else this.#last!.next = other.first;
    this.#last = other.#last;
    other.first = null;
  }

  /** Takes the first segment, or its first `bytes`. */
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

/** Receives a stream's response. */
export interface StreamOwner {
  /** `stream.received` has grown. */
  onData(stream: Stream): void;
}

/** One request and its response. Sizes are bytes, times milliseconds after navigationStart. */
export interface Stream {
  owner: StreamOwner;
  /** What the owner knows the stream by. */
  readonly id: number;
  /** RFC 9218: 0 (highest) to 7. */
  readonly urgency: number;
  readonly incremental: boolean;
  requestBytes: number;
  readonly responseBytes: number;
  /** Server's time from the request's last byte to the response's first. */
  readonly thinkMs: number;
  /** Server's time from the response's first byte to its last; 0 where it has the whole response at once. */
  readonly bodyMs: number;
  /** How many of the response's first bytes other activities wait for in parts. */
  readonly inPartsBytes: number;
  /** Response bytes that the server has not made yet. */
  unmade: number;
  /** Response bytes that the server has made, but not handed to its transport yet. */
  unwritten: number;
  /** Response bytes not yet sent for the first time. */
  unsent: number;
  /** Response bytes handed to the page. */
  received: number;
  /** The order in which its bytes are handed up: its own, or its connection's. */
  order: ByteOrder<Segment>;
  /** When the browser wanted it. */
  readonly startMs: number;
  /** When the request left on a ready connection; negative before. */
  sentMs: number;
  /** When the first byte was handed up; negative before. */
  firstByteMs: number;
}

/** Decides which response's bytes the server sends next. */
export interface ResponseSource {
  /** Whether no response has bytes to send. */
  readonly empty: boolean;
  /** The response whose bytes are next; null when there is none. */
  readonly next: Stream | null;
  /** Number of responses with bytes to send. */
  readonly streams: number;
  add(stream: Stream): void;
  /** Takes up to `room` bytes of the next response from its `unwritten`; returns how many. */
  take(room: number, packetBytes: number): number;
}
