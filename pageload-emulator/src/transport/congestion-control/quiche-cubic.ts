import type { Acknowledged } from './congestion-control.ts';
import { Cubic, type CubicState } from './cubic.ts';

/** quiche's ROLLBACK_THRESHOLD_PERCENT and MIN_ROLLBACK_THRESHOLD. */
const SPARSE_SHARE = 0.2;
const MIN_SPARSE_PACKETS = 2;

/**
 * Cubic as in quiche (`recovery/congestion/cubic.rs` of version 0.30): a reduction counts as spurious (RFC 9438 section 4.9.2), and is
 * undone with the first acknowledgement of what was sent after it, where fewer packets were lost since than a fifth of the
 * window, or fewer than two. The one that ended slow start stays.
 */
export class QuicheCubic extends Cubic {
  /** State before the last reduction; null where that is not to be undone. */
  #before: CubicState | null = null;
  /** Packets lost since the last reduction. */
  #lostPackets = 0;

  override onLoss(): void {
    this.#before = this.slowStart ? null : this.state;
    this.#lostPackets = 0;
    super.onLoss();
  }

  onPacketsLost(packets: number): void {
    this.#lostPackets += packets;
  }

  override onAck(ack: Acknowledged): void {
    const before = this.#before;
    const isSpurious =
      before !== null && this.window < before.window && this.#lostPackets < minDense(this.window);
    if (ack.windowLimited && isSpurious) {
      this.restore(before);
      this.#before = null;
    } else super.onAck(ack);
  }

  override onTimeout(nowMs: number, again: boolean): void {
    this.#before = null;
    super.onTimeout(nowMs, again);
  }
}

/** The number of lost packets from which a reduction of the window stays. */
const minDense = (window: number): number => Math.max(MIN_SPARSE_PACKETS, Math.floor(SPARSE_SHARE * window));
