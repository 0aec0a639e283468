import { type Acknowledged, type CongestionAlgorithm, idleWindow } from './congestion-control.ts';

/** RFC 9438 section 4.6: multiplicative decrease. */
const BETA = 0.7;
/** RFC 9438 section 4.1: aggressiveness, packets per second cubed. */
const C = 0.4;
/** RFC 9438 section 4.3: the additive increase that gives Reno's rate with Cubic's decrease. */
const ALPHA = (3 * (1 - BETA)) / (1 + BETA);
/** Linux: maximum growth for each acknowledged packet, and the minimum until the first loss has set a maximum window. */
const MAX_GROWTH = 1 / 2;
const MIN_GROWTH_BEFORE_LOSS = 1 / 20;

/** The window after a loss; Linux counts whole packets. */
function cut(window: number): number {
  return Math.max(2, Math.floor(Math.floor(window) * BETA));
}

/** What a loss changes. Windows are packets, times milliseconds. */
export interface CubicState {
  window: number;
  ssthresh: number;
  windowMax: number;
  epochMs: number;
  kSeconds: number;
  origin: number;
  renoWindow: number;
}

/**
 * CUBIC (RFC 9438) as in Linux (tcp_cubic.c), with fast convergence and the Reno-friendly region, whose increase stays below
 * Reno's even beyond the last maximum. Windows are packets.
 */
export class Cubic implements CongestionAlgorithm {
  window = 0;
  readonly paceRate = null;
  readonly rateSamples = false;
  readonly #initialWindow: number;
  #ssthresh = Number.POSITIVE_INFINITY;
  #windowMax = 0;
  /** Start of congestion avoidance, milliseconds; negative before it. */
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

  onAck({ packets, atMs, minRttMs, windowLimited }: Acknowledged): void {
    if (!windowLimited) {
      // Section 5.8: the window does not grow while the application limits the sender.
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
    if (this.#epochMs < 0) this.#startEpoch(atMs);
    const sinceOrigin = (atMs - this.#epochMs + minRttMs) / 1000 - this.#kSeconds;
    // Figure 1, W_cubic(t + RTT).
    const target = C * sinceOrigin ** 3 + this.#origin;
    // Section 4.3, figure 4: W_est.
    this.#renoWindow += (ALPHA * acked) / this.window;
    const growth = (target - this.window) / this.window;
    const minGrowth = this.#windowMax === 0 ? MIN_GROWTH_BEFORE_LOSS : 0;
    this.window += acked * Math.min(MAX_GROWTH, Math.max(minGrowth, growth));
    if (this.#renoWindow > this.window) this.window = this.#renoWindow;
  }

  onLoss(): void {
    // Section 4.7, fast convergence: a flow that lost before its last maximum yields bandwidth.
    this.#windowMax = this.window < this.#windowMax ? (this.window * (1 + BETA)) / 2 : this.window;
    this.window = cut(this.window);
    this.#ssthresh = this.window;
    this.#epochMs = -1;
  }

  onRecovered(): void {}

  onTimeout(_nowMs: number, again: boolean): void {
    // Linux forgets the maximum (bictcp_reset).
    this.#windowMax = 0;
    if (!again) this.#ssthresh = cut(this.window);
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

  protected get state(): CubicState {
    return {
      window: this.window,
      ssthresh: this.#ssthresh,
      windowMax: this.#windowMax,
      epochMs: this.#epochMs,
      kSeconds: this.#kSeconds,
      origin: this.#origin,
      renoWindow: this.#renoWindow,
    };
  }

  protected restore(state: CubicState): void {
    this.window = state.window;
    this.#ssthresh = state.ssthresh;
    this.#windowMax = state.windowMax;
    this.#epochMs = state.epochMs;
    this.#kSeconds = state.kSeconds;
    this.#origin = state.origin;
    this.#renoWindow = state.renoWindow;
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
