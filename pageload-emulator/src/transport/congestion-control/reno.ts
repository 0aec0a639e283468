import type { Transport } from '../../network/packet.ts';
import { type Acknowledged, type CongestionAlgorithm, idleWindow } from './congestion-control.ts';

/**
 * Multiplicative decrease: RFC 5681 equation 4 for TCP. QUIC stacks derived from Chromium's, quic-go among them, keep Cubic's
 * 0.7 in their Reno mode.
 */
const BETA: Record<Transport, number> = { tcp: 0.5, quic: 0.7 };

/** Reno with byte counting (RFC 5681, RFC 9002 section 7). Windows are packets. */
export class Reno implements CongestionAlgorithm {
  window = 0;
  readonly paceRate = null;
  readonly rateSamples = false;
  readonly #initialWindow: number;
  readonly #transport: Transport;
  #ssthresh = Number.POSITIVE_INFINITY;

  constructor(initialWindow: number, transport: Transport) {
    this.window = initialWindow;
    this.#initialWindow = initialWindow;
    this.#transport = transport;
  }

  get slowStart(): boolean {
    return this.window < this.#ssthresh;
  }

  onAck({ packets, windowLimited }: Acknowledged): void {
    if (!windowLimited) return;
    if (this.slowStart) this.growInSlowStart(packets);
    else this.window += packets / this.window;
  }

  protected growInSlowStart(packets: number): void {
    this.window = Math.min(this.window + packets, Math.max(this.#ssthresh, this.window));
  }

  onLoss(): void {
    this.window = Math.max(2, this.window * BETA[this.#transport]);
    this.#ssthresh = this.window;
  }

  onRecovered(): void {}

  onTimeout(_nowMs: number, again: boolean): void {
    if (!again) this.#ssthresh = Math.max(2, this.window * BETA[this.#transport]);
    this.window = this.#transport === 'tcp' ? 1 : 2;
  }

  leaveSlowStart(): void {
    this.#ssthresh = this.window;
  }

  onIdle(timeouts: number): void {
    // RFC 9002 leaves the restart to the stack; pacing replaces it.
    if (this.#transport === 'quic') return;
    this.#ssthresh = Math.max(this.#ssthresh, 0.75 * this.window);
    this.window = idleWindow(this.window, this.#initialWindow, timeouts);
  }
}
