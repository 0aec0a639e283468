/** QUIC paces at this multiple of window over round trip (RFC 9002 section 7.7). */
export const QUIC_PACING_GAIN = 1.25;
/** Packets that a pacer lets go at once, as quic-go and Chromium do. */
const BURST = 10;
/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

/** A bucket of packets that fills at the sender's pacing rate. */
export class Pacer {
  #tokens = BURST;
  #atMs = 0;
  #awaited = 1;

  /** @param rate packets a millisecond since the last time */
  refill(rate: number, nowMs: number): void {
    const most = Math.max(BURST, 2 * rate, this.#tokens);
    this.#tokens = Math.min(most, this.#tokens + (nowMs - this.#atMs) * rate);
    this.#atMs = nowMs;
  }

  /** Packets that may leave now. */
  get allowed(): number {
    return Math.max(0, Math.floor(this.#tokens + TINY));
  }

  /** When `packets` may leave at `rate`. */
  nextMs(packets: number, rate: number): number {
    this.#awaited = packets;
    return this.#atMs + (packets - this.#tokens) / rate;
  }

  /** What was waited for may go, whatever rounding and the bucket's depth made of it: a real pacer wakes more often. */
  grant(): void {
    this.#tokens = Math.max(this.#tokens, this.#awaited);
  }

  spend(packets: number): void {
    this.#tokens -= packets;
  }
}
