import type { Burst } from './burst.ts';
import { LossRecovery } from './loss-recovery.ts';
import { PACKET } from './packet.ts';

/** RFC 9002 section 6.2.4: packets that a probe timeout sends. */
const PROBE_PACKETS = 2;

/** QUIC's loss recovery (RFC 9002), as quic-go does it. */
export class QuicRecovery extends LossRecovery {
  /** Bursts before this one were sent before the last window cut. */
  #end = 0;

  onAck(burst: Burst, _packets: number, inFlight: number, nextBurst: number): number {
    this.timer.inARow = 0;
    if (this.gaps.length === 0) return 0;
    return this.notice(burst.index, (gap) => {
      // One cut a round trip (section 7.3.2).
      if (gap.index < this.#end) return;
      this.#end = nextBurst;
      this.control.onLoss(burst.ackMs, inFlight);
    });
  }

  mayGrow(burst: Burst): boolean {
    return burst.index >= this.#end;
  }

  waitMs(packetsOut: number): number {
    return this.timer.backedOffMs(this.timer.probeMs(packetsOut));
  }

  /** The first outstanding packets are sent again, which cuts no window; the acknowledgement shows the other losses. */
  onTimer(): number {
    this.timer.inARow++;
    return this.probe(PROBE_PACKETS, PACKET.quic.payloadBytes);
  }
}
