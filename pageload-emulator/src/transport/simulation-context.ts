import type { ClientThread } from '../client/client-costs.ts';
import type { BurstPool } from './burst.ts';
import type { EventQueue, Lane } from './event-queue.ts';
import type { SharedPath } from './path/shared-path.ts';
import type { SegmentPool } from './stream.ts';
import type { Trace } from './trace.ts';

/** What all connections of one simulated page load share: clock, path, browser thread and pools. */
export interface SimulationContext {
  readonly events: EventQueue;
  readonly path: SharedPath;
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
