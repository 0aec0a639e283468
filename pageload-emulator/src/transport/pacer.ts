import type { Transport } from './congestion-control.ts';

/** QUIC paces at this multiple of window over round trip (RFC 9002 section 7.7). */
export const QUIC_PACING_GAIN = 1.25;
/** What a pacer lets go at once: packets at the least, and time at its rate (quic-go, Chromium; Linux's tcp_tso_autosize). */
const BUCKET: Record<Transport, { packets: number; ms: number }> = {
  quic: { packets: 10, ms: 2 },
  tcp: { packets: 2, ms: 1 },
};
/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

/** A bucket of packets that fills at the sender's pacing rate. */
export class Pacer {
  readonly #depth: { packets: number; ms: number };
  #tokens = 0;
  #atMs = 0;

  constructor(transport: Transport) {
    this.#depth = BUCKET[transport];
    this.#tokens = this.#depth.packets;
  }

  /** @param rate packets a millisecond since the last time */
  refill(rate: number, nowMs: number): void {
    const most = Math.max(this.#depth.packets, this.#depth.ms * rate);
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
