import type { ClientThread } from '../client/client-thread.ts';
import type { Bottleneck, Policer } from './bottleneck.ts';
import type { EventQueue, Lane } from './event-queue.ts';
import type { Trace } from './trace.ts';

/** What all connections of a page load share. */
export interface Network {
  readonly events: EventQueue;
  readonly down: Bottleneck;
  readonly up: Bottleneck;
  readonly udpPolicer: Policer | null;
  readonly rttMs: number;
  readonly loss: number;
  /** Of UDP packets, `loss` included. */
  readonly udpLoss: number;
  readonly lossBurst: number;
  readonly client: ClientThread;
  /** What reading a QUIC packet takes of the client's thread. */
  readonly quicPacketMs: number;
  /** Packets that travel as one at the least: 2, more for pages so heavy that detail costs too much. */
  readonly leastBurst: number;
  /** What has passed the bottleneck arrives in order; what the client's thread does ends in order. */
  readonly arrivals: Lane;
  readonly clientWork: Lane;
  /** Who listens, null for nobody. */
  readonly trace: Trace | null;
}
