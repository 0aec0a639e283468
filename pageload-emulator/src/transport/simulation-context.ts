import type { ClientThread } from '../client/client-thread.ts';
import type { Bottleneck, Policer } from './bottleneck.ts';
import type { BurstPool } from './burst.ts';
import type { Transport } from './congestion-control.ts';
import type { EventQueue, Lane } from './event-queue.ts';
import type { LossProcess } from './loss.ts';
import type { SegmentPool } from './stream.ts';
import type { Trace } from './trace.ts';

export interface LossOfBothWays {
  down: LossProcess;
  up: LossProcess;
}

/** What all connections of a page load share. */
export interface SimulationContext {
  readonly events: EventQueue;
  readonly down: Bottleneck;
  readonly up: Bottleneck;
  readonly udpPolicer: Policer | null;
  readonly rttMs: number;
  /** Random losses of each direction, which all its connections share: a burst hits whoever sends then. */
  readonly loss: Record<Transport, LossOfBothWays>;
  readonly client: ClientThread;
  /** What reading a QUIC packet takes of the client's thread. */
  readonly quicPacketMs: number;
  /** Packets that travel as one, at the least, where the window lets them. */
  readonly minBurst: number;
  /** What has passed the bottleneck arrives in order, and is read in order. */
  readonly arrivals: Lane;
  readonly reads: Lane;
  readonly segments: SegmentPool;
  readonly bursts: BurstPool;
  /** Who listens, null for nobody. */
  readonly trace: Trace | null;
}
