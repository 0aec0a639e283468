/** Newest responses that count: a path may change. */
const RESPONSES = 10;
/** How many probe timeouts in a row may go unanswered. */
const PROBE_TIMEOUTS = 4;
/** So that a single stall of the path, such as that of a handover within a network, means nothing. */
const MIN_SILENCE_MS = 600;
/** Before any response: a first packet that is lost is sent again after one second (RFC 9002 section 6.2.2). */
const FIRST_SILENCE_MS = 1_000;
/** How long a peer may delay an acknowledgement (`max_ack_delay`, RFC 9000 section 18.2). */
const ACK_DELAY_MS = 25;
/** A probe timeout is a round trip and four times its deviation (RFC 9002 section 6.2.1). */
const PROBE_ROUND_TRIPS = 1.5;

/**
 * What a QUIC connection's silence is measured by. libcurl does not tell its round trips, but no response comes sooner than one: the
 * least time to a first byte is at least a round trip, and mostly little more.
 */
export class RoundTripEstimate {
  #firstBytesMs: number[] = [];

  /** Adds the time from a request to the first byte of its response. */
  add(firstByteMs: number): void {
    this.#firstBytesMs = [...this.#firstBytesMs, firstByteMs].slice(-RESPONSES);
  }

  /** How long nothing may come back after something was sent: a server acknowledges what it gets, even when its response takes long. */
  get silenceLimitMs(): number {
    if (this.#firstBytesMs.length === 0) return FIRST_SILENCE_MS;
    const probeTimeoutMs = PROBE_ROUND_TRIPS * Math.min(...this.#firstBytesMs) + ACK_DELAY_MS;
    return Math.max(MIN_SILENCE_MS, PROBE_TIMEOUTS * probeTimeoutMs);
  }
}
