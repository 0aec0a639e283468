import { TINY } from '../network/packet.ts';
import type { Burst, Gap } from './burst.ts';
import type { CongestionAlgorithm } from './congestion-control/congestion-control.ts';
import type { RetransmissionTimer } from './retransmission-timer.ts';
import { SegmentQueue } from './stream.ts';

/** A sender's detection and repair of losses. The subclasses for TCP and QUIC differ in when they react. */
export abstract class LossRecovery {
  /** Bytes to retransmit. */
  readonly resend = new SegmentQueue();
  protected readonly control: CongestionAlgorithm;
  protected readonly timer: RetransmissionTimer;
  /** Lost packets that the sender has not detected yet. */
  protected gaps: Gap[] = [];
  /** Packets that may be sent beyond the window. */
  protected allowance = 0;

  constructor(control: CongestionAlgorithm, timer: RetransmissionTimer) {
    this.control = control;
    this.timer = timer;
  }

  /** Whether there are undetected losses. */
  get unnoticed(): boolean {
    return this.gaps.length > 0;
  }

  add(gap: Gap): void {
    this.gaps.push(gap);
  }

  /**
   * Returns how many packets may be sent now.
   *
   * @param maxInFlight packets in flight that the receiver allows
   */
  room(inFlight: number, maxInFlight = Number.POSITIVE_INFINITY): number {
    return Math.floor(Math.max(Math.min(this.control.window, maxInFlight) - inFlight, this.allowance) + TINY);
  }

  /**
   * Notes that packets were sent.
   *
   * @param sentBytes bytes of the connection's order that have been sent for the first time
   */
  onSent(packets: number, _sentBytes: number): void {
    this.allowance = Math.max(0, this.allowance - packets);
  }

  /**
   * Detects the losses that an acknowledgement shows.
   *
   * @param inFlight packets in flight without those that it acknowledges
   * @param nextBurst index of the burst that is sent next
   * @returns how much of the window the detected losses free, packets
   */
  abstract onAck(burst: Burst, packets: number, inFlight: number, nextBurst: number): number;

  /** Whether the window may grow by the latest acknowledgement. */
  abstract mayGrow(burst: Burst): boolean;

  /** How long to wait for the next acknowledgement, milliseconds. */
  abstract waitMs(packetsOut: number): number;

  /**
   * Reacts to a timeout without acknowledgements.
   *
   * @param moreToSend whether there are bytes that were never sent
   * @returns how much of the window the packets now considered lost free, packets
   */
  abstract onTimer(nowMs: number, moreToSend: boolean): number;

  /**
   * Considers gaps lost when a later packet is acknowledged (RFC 8985 section 6.2, RFC 9002 section 6.1, without their
   * allowances for reordering).
   *
   * @param lost called with each lost gap
   * @returns how much of the window they free, packets
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

  /** Considers all gaps lost; returns how much of the window they free, packets. */
  protected giveUp(): number {
    let freed = 0;
    for (const gap of this.gaps) {
      freed += gap.inFlight;
      this.resend.append(gap.segments);
    }
    this.gaps.length = 0;
    return freed;
  }

  /** Retransmits the first missing packets regardless of the window; returns how much of it they free, packets. */
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
