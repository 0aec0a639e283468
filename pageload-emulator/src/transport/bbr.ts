import type { CongestionControl } from './congestion-control.ts';

/** Cardwell et al., "BBR: Congestion-Based Congestion Control" (ACM Queue 2016): 2 / ln 2. */
const STARTUP_GAIN = 2.885;
const WINDOW_GAIN = 2;
/** Startup ends after this many round trips in which the bandwidth grew by less than a quarter. */
const FULL_PIPE_ROUNDS = 3;
const BANDWIDTH_ROUNDS = 10;

/**
 * The outline of BBR version 1: the window follows the largest delivery rate of the last ten round
 * trips, losses do not move it. The gain cycle and the round-trip probe are left out: they shift a
 * page's time by less than a round trip.
 */
export class Bbr implements CongestionControl {
  window: number;
  slowStart = true;
  readonly #initialWindow: number;
  /** Packets a millisecond of the last rounds. */
  #rates: number[] = [];
  #roundStartMs = -1;
  #roundPackets = 0;
  #fullRate = 0;
  #roundsWithoutGrowth = 0;
  #minRttMs = Number.POSITIVE_INFINITY;

  constructor(initialWindow: number) {
    this.window = initialWindow;
    this.#initialWindow = initialWindow;
  }

  get paceRate(): number | null {
    const rate = this.#bandwidth();
    return rate === 0 ? null : rate * (this.slowStart ? STARTUP_GAIN : 1);
  }

  onAck(packets: number, nowMs: number, rttMs: number, minRttMs: number, windowLimited: boolean): void {
    this.#minRttMs = minRttMs;
    if (this.#roundStartMs < 0) this.#roundStartMs = nowMs - rttMs;
    this.#roundPackets += packets;
    if (nowMs - this.#roundStartMs >= rttMs) this.#endRound(nowMs, windowLimited);
    if (this.slowStart) {
      this.window += packets;
    } else {
      const target = Math.max(4, WINDOW_GAIN * this.#bandwidth() * minRttMs);
      this.window = Math.min(target, this.window + packets);
    }
  }

  onLoss(): void {}

  onTimeout(): void {
    this.window = 4;
  }

  /** Other algorithms' slow start leaves at a delay; BBR's ends where the delivery rate does. */
  leaveSlowStart(): void {}

  onIdle(): void {
    this.window = Math.max(this.#initialWindow, WINDOW_GAIN * this.#bandwidth() * this.#minRttMs || 0);
  }

  #bandwidth(): number {
    let best = 0;
    for (const rate of this.#rates) best = Math.max(best, rate);
    return best;
  }

  #endRound(nowMs: number, windowLimited: boolean): void {
    const rate = this.#roundPackets / (nowMs - this.#roundStartMs);
    this.#roundStartMs = nowMs;
    this.#roundPackets = 0;
    // A sender without data measures itself, not the path.
    if (!windowLimited && rate <= this.#bandwidth()) return;
    this.#rates.push(rate);
    if (this.#rates.length > BANDWIDTH_ROUNDS) this.#rates.shift();
    if (!this.slowStart) return;
    if (rate >= 1.25 * this.#fullRate) {
      this.#fullRate = rate;
      this.#roundsWithoutGrowth = 0;
    } else if (++this.#roundsWithoutGrowth >= FULL_PIPE_ROUNDS) {
      this.slowStart = false;
    }
  }
}
