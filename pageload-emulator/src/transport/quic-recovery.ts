import { PACKET } from '../network/packet.ts';
import type { Burst } from './burst.ts';
import { LossRecovery } from './loss-recovery.ts';

/** RFC 9002 section 6.2.4: packets that a probe timeout sends. */
const PROBE_PACKETS = 2;

/** QUIC's loss recovery (RFC 9002) as in quic-go. */
export class QuicRecovery extends LossRecovery {
  /** Index of the first burst sent after the last window reduction. */
  #end = 0;

  onAck(burst: Burst, _packets: number, inFlight: number, nextBurst: number): number {
    this.timer.inARow = 0;
    if (this.gaps.length === 0) return 0;
    return this.notice(burst.index, (gap) => {
      // One reduction a round trip (section 7.3.2).
      if (gap.index >= this.#end) {
        this.#end = nextBurst;
        this.control.onLoss(burst.ackMs, inFlight);
      }
      this.control.onPacketsLost?.(gap.inFlight);
    });
  }

  mayGrow(burst: Burst): boolean {
    return burst.index >= this.#end;
  }

  waitMs(packetsOut: number): number {
    return this.timer.backedOffMs(this.timer.probeMs(packetsOut));
  }

  /** Retransmits the first outstanding packets without a window reduction; their acknowledgement shows the other losses. */
  onTimer(): number {
    this.timer.inARow++;
    return this.probe(PROBE_PACKETS, PACKET.quic.payloadBytes);
  }
}
