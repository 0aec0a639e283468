import type { ClientThread } from '../client/client-thread.ts';
import type { Transport } from '../network/packet.ts';
import type { Bottleneck, Policer } from './bottleneck.ts';
import type { BurstPool } from './burst.ts';
import type { EventQueue, Lane } from './event-queue.ts';
import type { LossProcess } from './loss.ts';
import type { SegmentPool } from './stream.ts';
import type { Trace } from './trace.ts';

/** Random loss of each direction. */
export interface LossOfBothWays {
  down: LossProcess;
  up: LossProcess;
}

/** What all connections of one simulated page load share: clock, bottleneck, losses, browser thread and pools. */
export interface SimulationContext {
  readonly events: EventQueue;
  readonly down: Bottleneck;
  readonly up: Bottleneck;
  /** Null when UDP is not policed. */
  readonly udpPolicer: Policer | null;
  /** Round trip without queueing to the nearest origin, milliseconds. */
  readonly rttMs: number;
  /** Random losses by transport, shared by all its connections: a burst of losses hits any connection that sends at that time. */
  readonly loss: Record<Transport, LossOfBothWays>;
  readonly client: ClientThread;
  /** Time to read a QUIC packet on the client's thread, milliseconds. */
  readonly quicPacketMs: number;
  /** Smallest burst, packets, if the window allows it. */
  readonly minBurst: number;
  /** Arrivals from the bottleneck, which come in order. */
  readonly arrivals: Lane;
  /** Reads by the client's thread, which come in order. */
  readonly reads: Lane;
  readonly segments: SegmentPool;
  readonly bursts: BurstPool;
  /** Null without a listener. */
  readonly trace: Trace | null;
}
