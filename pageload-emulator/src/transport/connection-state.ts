import type { PacketFormat, Transport } from '../network/packet.ts';
import type { LossOfBothWays } from './path/shared-path.ts';
import type { RetransmissionTimer } from './retransmission-timer.ts';
import type { RttEstimator } from './rtt-estimator.ts';
import type { TransportCounters } from './transport-counters.ts';

/** What the parts of one connection share. */
export interface ConnectionState {
  /** Identifies the connection in the trace. */
  readonly id: object;
  readonly transport: Transport;
  readonly packet: PacketFormat;
  /** Time from the client to the server without queueing, milliseconds. */
  readonly oneWayUpMs: number;
  /** Round trip without queueing, milliseconds. */
  readonly baseRttMs: number;
  readonly loss: LossOfBothWays;
  readonly rtt: RttEstimator;
  readonly timer: RetransmissionTimer;
  readonly counters: TransportCounters;
}
