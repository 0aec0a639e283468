import type { Transport } from '../network/packet.ts';

/** QUIC paces at this multiple of window over round trip (RFC 9002 section 7.7). */
export const QUIC_PACING_GAIN = 1.25;
/** Depth of the bucket: at least `packets`, or what `ms` at the pacing rate carry (quic-go, Chromium; Linux's tcp_tso_autosize). */
const BUCKET: Record<Transport, { packets: number; ms: number }> = {
  quic: { packets: 10, ms: 2 },
  tcp: { packets: 2, ms: 1 },
};
/** Fractions of packets add up with rounding errors: less than this counts as zero. */
const TINY = 1e-6;

/** A token bucket of packets that fills at the sender's pacing rate. */
export class Pacer {
  readonly #depth: { packets: number; ms: number };
  #tokens = 0;
  #atMs = 0;

  constructor(transport: Transport) {
    this.#depth = BUCKET[transport];
    this.#tokens = this.#depth.packets;
  }

  /** Fills the bucket. @param rate packets a millisecond since the last call */
  refill(rate: number, nowMs: number): void {
    const depth = Math.max(this.#depth.packets, this.#depth.ms * rate);
    this.#tokens = Math.min(depth, this.#tokens + (nowMs - this.#atMs) * rate);
    this.#atMs = nowMs;
  }

  /** Returns how many packets may leave within `ms` at `rate`, the first of them now; 0 when that one must wait. */
  allowed(ms: number, rate: number): number {
    return this.#tokens + TINY < 1 ? 0 : Math.floor(this.#tokens + ms * rate + TINY);
  }

  /** When the next packet may leave at `rate`. */
  nextMs(rate: number): number {
    return this.#atMs + (1 - this.#tokens) / rate;
  }

  /** Takes tokens for packets; returns how long sending them takes at `rate`, milliseconds. */
  spend(packets: number, rate: number): number {
    const waitMs = Math.max(0, packets - this.#tokens) / rate;
    this.#tokens -= packets;
    return waitMs;
  }
}
