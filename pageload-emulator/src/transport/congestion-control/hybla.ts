import type { Acknowledged } from './congestion-control.ts';
import { Reno } from './reno.ts';

/** Round trip of the reference connection whose growth Hybla imitates (Caini and Firrincieli 2004, section 3; Linux's default). */
const REFERENCE_RTT_MS = 25;
/** Linux bounds the exponent of growth in slow start. */
const MAX_RHO = 16;

/**
 * TCP Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", 2004):
 * a window that grows over time as that of a Reno connection with a round trip of 25 ms, however long its
 * own is: by 2^ρ − 1 packets for each acknowledged one in slow start, by ρ² / W after it, where ρ is the
 * ratio of the round trips, 1 at the least (equations 7 and 8). Over QUIC it reacts to losses as over TCP.
 */
export class Hybla extends Reno {
  constructor(initialWindow: number) {
    super(initialWindow, 'tcp');
  }

  override onAck({ packets, minRttMs, windowLimited }: Acknowledged): void {
    if (!windowLimited) return;
    const rho = Math.max(1, minRttMs / REFERENCE_RTT_MS);
    if (this.slowStart) this.growInSlowStart(packets * (2 ** Math.min(MAX_RHO, rho) - 1));
    else this.window += (packets * rho * rho) / this.window;
  }
}
