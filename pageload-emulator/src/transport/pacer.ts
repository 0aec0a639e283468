import { TINY, type Transport } from '../network/packet.ts';
import type { CongestionAlgorithm } from './congestion-control/congestion-control.ts';
import type { RttEstimator } from './rtt-estimator.ts';

/** QUIC paces at this multiple of window over round trip (RFC 9002 section 7.7). */
const QUIC_PACING_GAIN = 1.25;
/** Depth of the bucket: at least `packets`, or what `ms` at the pacing rate carry (quic-go, Chromium; Linux's tcp_tso_autosize). */
const BUCKET: Record<Transport, { packets: number; ms: number }> = {
  quic: { packets: 10, ms: 2 },
  tcp: { packets: 2, ms: 1 },
};
/** Paces a sender's packets: a token bucket that fills at the pacing rate. Rates are packets a millisecond. */
export class Pacer {
  /** The rate of the first round trip when the server assumes one; 0 after it. */
  startRate = 0;
  readonly #transport: Transport;
  readonly #control: CongestionAlgorithm;
  readonly #rtt: RttEstimator;
  readonly #depth: { packets: number; ms: number };
  #tokens = 0;
  #atMs = 0;

  constructor(transport: Transport, control: CongestionAlgorithm, rtt: RttEstimator) {
    this.#transport = transport;
    this.#control = control;
    this.#rtt = rtt;
    this.#depth = BUCKET[transport];
    this.#tokens = this.#depth.packets;
  }

  /** Returns how many of `packets` may leave within `ms`, the first of them now; 0 when that one must wait. */
  limit(packets: number, nowMs: number, ms: number): number {
    const rate = this.#rate();
    if (rate === null) return packets;
    const depth = Math.max(this.#depth.packets, this.#depth.ms * rate);
    this.#tokens = Math.min(depth, this.#tokens + (nowMs - this.#atMs) * rate);
    this.#atMs = nowMs;
    return this.#tokens + TINY < 1 ? 0 : Math.min(packets, Math.floor(this.#tokens + ms * rate + TINY));
  }

  /** When the next packet may leave, after `limit` returned 0. */
  get nextMs(): number {
    return this.#atMs + (1 - this.#tokens) / this.#rate()!;
  }

  /** Takes tokens for packets; returns how long sending them takes, milliseconds. */
  spend(packets: number): number {
    const rate = this.#rate();
    if (rate === null) return 0;
    const waitMs = Math.max(0, packets - this.#tokens) / rate;
    this.#tokens -= packets;
    return waitMs;
  }

  /** The pacing rate; null without pacing. */
  #rate(): number | null {
    if (this.startRate > 0) return this.startRate;
    const { paceRate, window } = this.#control;
    if (paceRate !== null) return paceRate;
    const { smoothedMs } = this.#rtt;
    if (this.#transport === 'tcp' || smoothedMs === 0) return null;
    return (QUIC_PACING_GAIN * window) / smoothedMs;
  }
}
