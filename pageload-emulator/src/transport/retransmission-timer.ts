import type { Transport } from '../network/packet.ts';
import type { RttEstimator } from './rtt-estimator.ts';

/** Linux: minimum retransmission timeout, and the probe's allowance for a delayed acknowledgement (RFC 8985 section 7.2). */
const TCP_MIN_RTO_MS = 200;
const TLP_SLACK_MS = 8;
/** RFC 9000 section 18.2, max_ack_delay. */
const QUIC_MAX_ACK_DELAY_MS = 25;
const MAX_DOUBLINGS = 6;

/** Computes how long a sender waits for an acknowledgement before it probes or retransmits. */
export class RetransmissionTimer {
  readonly #transport: Transport;
  readonly #rtt: RttEstimator;
  /** Consecutive timeouts without an acknowledgement. */
  inARow = 0;

  constructor(transport: Transport, rtt: RttEstimator) {
    this.#transport = transport;
    this.#rtt = rtt;
  }

  /** Exponential backoff: each consecutive wait is twice as long. */
  backedOffMs(firstMs: number): number {
    return firstMs * 2 ** Math.min(MAX_DOUBLINGS, this.inARow);
  }

  /** Time from the last acknowledgement to a probe, milliseconds: RFC 8985 section 7.2, RFC 9002 section 6.2.1. */
  probeMs(packetsOut: number): number {
    const { smoothedMs, variationMs } = this.#rtt;
    if (this.#transport === 'quic') return smoothedMs + Math.max(1, 4 * variationMs) + QUIC_MAX_ACK_DELAY_MS;
    const slackMs = packetsOut <= 1 ? TCP_MIN_RTO_MS : TLP_SLACK_MS;
    return Math.min(2 * smoothedMs + slackMs, this.timeoutMs());
  }

  /** Retransmission timeout, milliseconds: RFC 6298 with Linux's minimum of the variance term. */
  timeoutMs(): number {
    return this.#rtt.smoothedMs + Math.max(TCP_MIN_RTO_MS, 4 * this.#rtt.variationMs);
  }
}
