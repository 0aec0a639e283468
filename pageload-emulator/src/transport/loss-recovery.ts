import type { Burst, Gap } from './burst.ts';
import type { CongestionControl } from './congestion-control.ts';
import type { RetransmissionTimer } from './retransmission-timer.ts';
import { SegmentQueue } from './stream.ts';

/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

/** What a sender knows of its losses, and what it does about them; TCP and QUIC differ in the latter. */
export abstract class LossRecovery {
  /** Bytes to be sent again. */
  readonly resend = new SegmentQueue();
  protected readonly control: CongestionControl;
  protected readonly timer: RetransmissionTimer;
  /** Lost packets that the sender has not noticed. */
  protected gaps: Gap[] = [];
  /** Packets that may be sent even if the window is full. */
  protected allowance = 0;

  constructor(control: CongestionControl, timer: RetransmissionTimer) {
    this.control = control;
    this.timer = timer;
  }

  /** Whether packets are missing that the sender has not noticed. */
  get unnoticed(): boolean {
    return this.gaps.length > 0;
  }

  add(gap: Gap): void {
    this.gaps.push(gap);
  }

  /**
   * Packets that may be sent now.
   *
   * @param most packets in flight that the receiver allows
   */
  room(inFlight: number, most = Number.POSITIVE_INFINITY): number {
    return Math.floor(Math.max(Math.min(this.control.window, most) - inFlight, this.allowance) + TINY);
  }

  /** @param sentBytes bytes of the connection's order that have been sent for the first time */
  onSent(packets: number, _sentBytes: number): void {
    this.allowance = Math.max(0, this.allowance - packets);
  }

  /**
   * Notices what an acknowledgement shows.
   *
   * @param inFlight packets without those that it acknowledges
   * @param nextBurst number of the burst that is sent next
   * @returns what lost packets took of the window
   */
  abstract onAck(burst: Burst, packets: number, inFlight: number, nextBurst: number): number;

  /** Whether the window may grow by the acknowledgement that was noticed last. */
  abstract mayGrow(burst: Burst): boolean;

  /** How long to wait for an acknowledgement from now on. */
  abstract waitMs(packetsOut: number): number;

  /**
   * Nothing came back in time.
   *
   * @param moreToSend whether there are bytes that were never sent
   * @returns what packets that are now taken for lost took of the window
   */
  abstract onTimer(nowMs: number, moreToSend: boolean): number;

  /**
   * A gap is lost once something sent after it is acknowledged (RFC 8985 section 6.2, RFC 9002
   * section 6.1, without their windows for reordering).
   *
   * @param lost called with each
   * @returns what they took of the window
   */
  protected notice(acknowledged: number, lost?: (gap: Gap) => void): number {
    let freed = 0;
    let kept = 0;
    for (const gap of this.gaps) {
      if (gap.index < acknowledged || (gap.index === acknowledged && gap.ownBurst)) {
        freed += gap.inFlight;
        this.resend.append(gap.segments);
        lost?.(gap);
      } else {
        this.gaps[kept++] = gap;
      }
    }
    while (this.gaps.length > kept) this.gaps.pop();
    return freed;
  }

  /** Takes all that is missing for lost; returns what it took of the window. */
  protected giveUp(): number {
    let freed = 0;
    for (const gap of this.gaps) {
      freed += gap.inFlight;
      this.resend.append(gap.segments);
    }
    this.gaps.length = 0;
    return freed;
  }

  /** Sends the first missing packets again, whatever the window says; returns what they took of it. */
  protected probe(packets: number, payloadBytes: number): number {
    let freed = 0;
    let left = packets * payloadBytes;
    while (left > 0 && this.gaps.length > 0) {
      const gap = this.gaps[0]!;
      const segment = gap.segments.shiftBytes(left);
      if (segment === null) {
        freed += gap.inFlight;
        this.gaps.shift();
        continue;
      }
      left -= segment.bytes;
      const share = Math.min(gap.inFlight, segment.bytes / payloadBytes);
      gap.inFlight -= share;
      freed += share;
      this.resend.push(segment);
    }
    if (this.gaps[0]?.segments.first === null) freed += this.gaps.shift()!.inFlight;
    this.allowance = packets;
    return freed;
  }
}
