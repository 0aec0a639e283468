import { type Acknowledged, type CongestionControl, idleWindow } from './congestion-control.ts';

/** Round trip of the reference connection whose growth Hybla imitates (Caini and Firrincieli 2004, section 3; Linux's default). */
const REFERENCE_RTT_MS = 25;
/** Linux bounds the exponent of growth in slow start. */
const MAX_RHO = 16;

/**
 * TCP Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004):
 * a window that grows over time as that of a Reno connection with a round trip of 25 ms, however long its
 * own is: by 2^ρ − 1 packets for each acknowledged one in slow start, by ρ² / W after it, where ρ is the
 * ratio of the round trips, 1 at the least (equations 7 and 8). Windows are packets.
 */
export class Hybla implements CongestionControl {
  window = 0;
  readonly paceRate = null;
  readonly rateSamples = false;
  readonly #initialWindow: number;
  #ssthresh = Number.POSITIVE_INFINITY;

  constructor(initialWindow: number) {
    this.window = initialWindow;
    this.#initialWindow = initialWindow;
  }

  get slowStart(): boolean {
    return this.window < this.#ssthresh;
  }

  onAck({ packets, minRttMs, windowLimited }: Acknowledged): void {
    if (!windowLimited) return;
    const rho = Math.max(1, minRttMs / REFERENCE_RTT_MS);
    if (this.slowStart) {
      const grown = this.window + packets * (2 ** Math.min(MAX_RHO, rho) - 1);
      this.window = Math.min(grown, Math.max(this.#ssthresh, this.window));
    } else {
      this.window += (packets * rho * rho) / this.window;
    }
  }

  onLoss(): void {
    this.window = Math.max(2, this.window / 2);
    this.#ssthresh = this.window;
  }

  onRecovered(): void {}

  onTimeout(_nowMs: number, again: boolean): void {
    if (!again) this.#ssthresh = Math.max(2, this.window / 2);
    this.window = 1;
  }

  leaveSlowStart(): void {
    this.#ssthresh = this.window;
  }

  onIdle(timeouts: number): void {
    this.#ssthresh = Math.max(this.#ssthresh, 0.75 * this.window);
    this.window = idleWindow(this.window, this.#initialWindow, timeouts);
  }
}
