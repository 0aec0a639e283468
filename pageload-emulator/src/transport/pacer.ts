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

  /** @param rate packets a millisecond since the last time */
  refill(rate: number, nowMs: number): void {
    const most = Math.max(BURST, 2 * rate);
    this.#tokens = Math.min(most, this.#tokens + (nowMs - this.#atMs) * rate);
    this.#atMs = nowMs;
  }

  /** Packets that may leave within `ms` at `rate`, the first of them now; 0 when that must wait. */
  allowed(ms: number, rate: number): number {
    return this.#tokens + TINY < 1 ? 0 : Math.floor(this.#tokens + ms * rate + TINY);
  }

  /** When the next packet may leave at `rate`. */
  nextMs(rate: number): number {
    return this.#atMs + (1 - this.#tokens) / rate;
  }

  /** Lets packets go as fast as `rate` allows; returns how long that takes. */
  spend(packets: number, rate: number): number {
    const waitMs = Math.max(0, packets - this.#tokens) / rate;
    this.#tokens -= packets;
    return waitMs;
  }
}
