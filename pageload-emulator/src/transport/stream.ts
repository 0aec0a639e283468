/** A run of response bytes in one burst. */
export interface Segment {
  stream: Stream;
  bytes: number;
  /** Where it begins in its stream's `order`. */
  offset: number;
  /** When it arrived ahead of a gap. */
  heldSinceMs: number;
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
  readonly held = new Map<number, Segment>();
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
