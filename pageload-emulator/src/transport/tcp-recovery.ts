import { PACKET } from '../network/packet.ts';
import type { Burst } from './burst.ts';
import { LossRecovery } from './loss-recovery.ts';

/** Linux's TCP_CA_Open, TCP_CA_Recovery and TCP_CA_Loss. */
type Phase = 'open' | 'recovery' | 'loss';

/**
 * TCP's loss recovery as in Linux: one window reduction per recovery, which lasts until everything sent before it is
 * acknowledged (RFC 6675 section 5), with proportional rate reduction (RFC 6937); a tail loss probe (RFC 8985 section 7), then
 * retransmission timeouts (RFC 6298 section 5).
 */
export class TcpRecovery extends LossRecovery {
  #phase: Phase = 'open';
  /** Bytes of the connection sent for the first time. */
  #sentBytes = 0;
  /** Those that had been sent when the recovery began. */
  #endBytes = 0;
  /** Bytes acknowledged without a gap. */
  #acknowledgedBytes = 0;
  /** RFC 6937 section 3: the window before its reduction; packets delivered and sent since. */
  #priorWindow = 0;
  #delivered = 0;
  #out = 0;
  #probed = false;

  override room(inFlight: number, maxInFlight?: number): number {
    if (this.#phase !== 'recovery' || this.control.rateSamples) return super.room(inFlight, maxInFlight);
    return super.room(Number.POSITIVE_INFINITY);
  }

  override onSent(packets: number, sentBytes: number): void {
    super.onSent(packets, sentBytes);
    this.#sentBytes = sentBytes;
    this.#out += packets;
  }

  onAck(burst: Burst, packets: number, inFlight: number, _nextBurst: number): number {
    this.timer.inARow = 0;
    this.#probed = false;
    const advanced = burst.inOrderBytes > this.#acknowledgedBytes;
    if (advanced) this.#acknowledgedBytes = burst.inOrderBytes;
    if (this.#phase !== 'open' && this.#acknowledgedBytes >= this.#endBytes) {
      this.#phase = 'open';
      this.allowance = 0;
      this.control.onRecovered();
    }
    const freed = this.gaps.length > 0 ? this.notice(burst.index) : 0;
    if (freed > 0 && this.#phase === 'open') this.#enterRecovery(burst.ackMs, inFlight - freed);
    if (this.#phase === 'recovery') this.#reduce(packets, inFlight - freed, advanced && freed === 0);
    return freed;
  }

  mayGrow(): boolean {
    return this.#phase !== 'recovery';
  }

  waitMs(packetsOut: number): number {
    return this.#probes ? this.timer.probeMs(packetsOut) : this.timer.backedOffMs(this.timer.timeoutMs());
  }

  onTimer(nowMs: number, moreToSend: boolean): number {
    if (this.#probes) return this.#probeTail(nowMs, moreToSend);
    this.timer.inARow++;
    this.allowance = 1;
    // Only acknowledgements were lost: the next one shows that the timeout was spurious and undoes it (RFC 5682).
    if (this.gaps.length === 0 && this.resend.first === null) return 0;
    this.control.onTimeout(nowMs, this.#phase !== 'open');
    this.#phase = 'loss';
    this.#endBytes = this.#sentBytes;
    return this.giveUp();
  }

  get #probes(): boolean {
    return this.#phase === 'open' && !this.#probed;
  }

  /**
   * Probes the tail: RFC 8985 section 7.3 sends new data or retransmits the last packet; either way its acknowledgement shows
   * the other losses at the same time.
   */
  #probeTail(nowMs: number, moreToSend: boolean): number {
    this.#probed = true;
    if (moreToSend) {
      this.allowance = 1;
      return 0;
    }
    const missing = this.gaps.length > 0;
    const freed = this.probe(1, PACKET.tcp.payloadBytes);
    // Section 7.4.1: a probe that repairs the only loss still shows congestion.
    if (missing && this.gaps.length === 0) {
      this.control.onLoss(nowMs, 0);
      this.control.onRecovered();
    }
    return freed;
  }

  #enterRecovery(nowMs: number, inFlight: number): void {
    this.#phase = 'recovery';
    this.#endBytes = this.#sentBytes;
    this.#priorWindow = this.control.window;
    this.#delivered = 0;
    this.#out = 0;
    this.control.onLoss(nowMs, inFlight);
  }

  /**
   * Proportional rate reduction with its slow-start bound (RFC 6937 section 3.1).
   *
   * @param safe whether the acknowledgement is in order and shows no further loss: each of its packets then allows one more
   */
  #reduce(packets: number, inFlight: number, safe: boolean): void {
    this.#delivered += packets;
    const target = Math.floor(this.control.window);
    let allowed: number;
    if (inFlight > target) {
      allowed = Math.ceil((this.#delivered * target) / this.#priorWindow) - this.#out;
    } else {
      allowed = Math.max(this.#delivered - this.#out, packets) + (safe ? packets : 0);
      allowed = Math.min(target - inFlight, allowed);
    }
    this.allowance = Math.max(allowed, this.#out > 0 ? 0 : 1);
  }
}
