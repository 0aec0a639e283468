import { type CongestionControl, idleWindow } from './congestion-control.ts';

/** RFC 9438 section 4.6: multiplicative decrease. */
const BETA = 0.7;
/** RFC 9438 section 4.1: aggressiveness, packets per second cubed. */
const C = 0.4;
/** RFC 9438 section 4.3: Reno's increase that gives the same rate with Cubic's decrease. */
const ALPHA = (3 * (1 - BETA)) / (1 + BETA);

/** CUBIC (RFC 9438), with fast convergence and the Reno-friendly region. Windows are packets. */
export class Cubic implements CongestionControl {
  window: number;
  readonly paceRate = null;
  readonly #initialWindow: number;
  #ssthresh = Number.POSITIVE_INFINITY;
  #windowMax = 0;
  /** Start of the congestion avoidance stage; negative before it. */
  #epochMs = -1;
  #kSeconds = 0;
  #origin = 0;
  #renoWindow = 0;

  constructor(initialWindow: number) {
    this.window = initialWindow;
    this.#initialWindow = initialWindow;
  }

  get slowStart(): boolean {
    return this.window < this.#ssthresh;
  }

  onAck(packets: number, nowMs: number, rttMs: number, _minRttMs: number, windowLimited: boolean): void {
    if (!windowLimited) {
      // Section 5.8: time without data to send is no time to grow in.
      this.#epochMs = -1;
      return;
    }
    let acked = packets;
    if (this.slowStart) {
      const grown = Math.min(this.window + acked, Math.max(this.#ssthresh, this.window));
      acked -= grown - this.window;
      this.window = grown;
      if (acked <= 0) return;
    }
    if (this.#epochMs < 0) this.#startEpoch(nowMs);
    const seconds = (nowMs - this.#epochMs + rttMs) / 1000;
    const sinceOrigin = seconds - this.#kSeconds;
    // Figure 1, W_cubic(t + RTT); section 4.2 bounds the target.
    const target = Math.min(C * sinceOrigin ** 3 + this.#origin, 1.5 * this.window);
    // Section 4.3, figure 4: W_est, with alpha 1 once it has reached W_max.
    const alpha = this.#renoWindow < this.#windowMax ? ALPHA : 1;
    this.#renoWindow += (alpha * acked) / this.window;
    if (target > this.window) this.window += ((target - this.window) / this.window) * acked;
    if (this.#renoWindow > this.window) this.window = this.#renoWindow;
  }

  onLoss(): void {
    // Section 4.7: a flow that lost before it reached its last maximum gives up room.
    this.#windowMax = this.window < this.#windowMax ? (this.window * (1 + BETA)) / 2 : this.window;
    this.window = Math.max(2, this.window * BETA);
    this.#ssthresh = this.window;
    this.#epochMs = -1;
  }

  onTimeout(): void {
    this.#windowMax = Math.max(this.#windowMax, this.window);
    this.#ssthresh = Math.max(2, this.window * BETA);
    this.window = 1;
    this.#epochMs = -1;
  }

  leaveSlowStart(): void {
    this.#ssthresh = this.window;
  }

  onIdle(timeouts: number): void {
    this.#ssthresh = Math.max(this.#ssthresh, 0.75 * this.window);
    this.window = idleWindow(this.window, this.#initialWindow, timeouts);
    this.#epochMs = -1;
  }

  #startEpoch(nowMs: number): void {
    this.#epochMs = nowMs;
    this.#renoWindow = this.window;
    if (this.window < this.#windowMax) {
      this.#kSeconds = Math.cbrt((this.#windowMax - this.window) / C);
      this.#origin = this.#windowMax;
    } else {
      this.#kSeconds = 0;
      this.#origin = this.window;
    }
  }
}
