import type { Gap } from './burst.ts';
import type { CongestionControl } from './congestion-control.ts';
import { SegmentQueue } from './stream.ts';

/** What a sender knows of its losses, and what it may send to repair them. */
export class LossRecovery {
  /** Bytes to be sent again. */
  readonly resend = new SegmentQueue();
  /** What a recovery has earned to send, packets: it goes out even if the window is full. */
  credit = 0;
  readonly #control: CongestionControl;
  #gaps: Gap[] = [];
  /** Bursts before this one were sent before the last window cut. */
  #end = 0;
  /** RFC 6937: what a recovery may send for each delivered packet. */
  #ratio = 0;

  constructor(control: CongestionControl) {
    this.#control = control;
  }

  /** Whether packets are missing that the sender has not noticed. */
  get unnoticed(): boolean {
    return this.#gaps.length > 0;
  }

  /** Packets of this burst's number and later were sent after the last window cut. */
  isOver(burstIndex: number): boolean {
    return burstIndex >= this.#end;
  }

  add(gap: Gap): void {
    this.#gaps.push(gap);
  }

  earn(packets: number): void {
    this.credit += packets * this.#ratio;
  }

  spend(packets: number): void {
    this.credit = Math.max(0, this.credit - packets);
  }

  /**
   * A gap is lost once something sent after it is acknowledged (RFC 8985 section 6.2, without its
   * reordering window).
   *
   * @param nextBurst number of the burst that is sent next
   * @returns what the lost packets took of the window
   */
  onAck(acknowledged: number, nextBurst: number, nowMs: number): number {
    let freed = 0;
    let kept = 0;
    for (const gap of this.#gaps) {
      if (gap.index < acknowledged || (gap.index === acknowledged && gap.ownBurst)) {
        freed += this.#repair(gap, nextBurst, nowMs);
      } else {
        this.#gaps[kept++] = gap;
      }
    }
    this.#gaps.length = kept;
    return freed;
  }

  /** Takes all that is missing for lost; returns what it took of the window. */
  onTimer(nextBurst: number, nowMs: number): number {
    let freed = 0;
    for (const gap of this.#gaps) freed += this.#repair(gap, nextBurst, nowMs);
    this.#gaps.length = 0;
    return freed;
  }

  #repair(gap: Gap, nextBurst: number, nowMs: number): number {
    this.resend.append(gap.segments);
    // One cut a round trip (RFC 9438 section 4.6, RFC 9002 section 7.3.2).
    if (gap.index >= this.#end) {
      const before = this.#control.window;
      this.#control.onLoss(nowMs);
      this.#ratio = this.#control.window / before;
      this.#end = nextBurst;
      // The first repair is sent whatever the window says (RFC 6675 section 5, RFC 9002 section 7.3.2).
      this.credit = 1;
    }
    return gap.inFlight;
  }
}
