import type { Stream } from '../transport/stream.ts';
import type { TransportCounters } from '../transport/transport-counters.ts';

/** What the requests to one origin went through, for explaining a result. */
export interface OriginCounters extends TransportCounters {
  /** Requests that were made. */
  requests: number;
  /** Connections that were begun. */
  connections: number;
  /** Requests that waited for a handshake, and for how long in all. */
  waitedForHandshake: number;
  handshakeMs: number;
  /** Requests that waited because the origin's six HTTP/1.1 connections were busy, and for how long in all. */
  waitedForConnection: number;
  connectionWaitMs: number;
}

/** A browser's side of one origin. */
export interface OriginClient {
  /** Whether a request would leave at once, or wait for others only. */
  readonly open: boolean;
  /** Opens a connection, unless there is one, without a request to send. */
  connect(): void;
  /** Sends the request as soon as the protocol lets it. */
  fetch(stream: Stream): void;
  /** The stream's response is whole. */
  done(stream: Stream): void;
  counters(): OriginCounters;
}

export function emptyCounters(): OriginCounters {
  return {
    requests: 0,
    connections: 0,
    waitedForHandshake: 0,
    handshakeMs: 0,
    waitedForConnection: 0,
    connectionWaitMs: 0,
    lost: 0,
    queueDrops: 0,
    policed: 0,
    timeouts: 0,
    blockedStreams: 0,
    blockedMs: 0,
  };
}

/** Adds `from` to `to`. */
export function addCounters<T extends TransportCounters>(to: T, from: TransportCounters): T {
  to.lost += from.lost;
  to.queueDrops += from.queueDrops;
  to.policed += from.policed;
  to.timeouts += from.timeouts;
  to.blockedStreams += from.blockedStreams;
  to.blockedMs += from.blockedMs;
  return to;
}

/** Adds `from` to `to`. */
export function addOriginCounters(to: OriginCounters, from: OriginCounters): OriginCounters {
  to.requests += from.requests;
  to.connections += from.connections;
  to.waitedForHandshake += from.waitedForHandshake;
  to.handshakeMs += from.handshakeMs;
  to.waitedForConnection += from.waitedForConnection;
  to.connectionWaitMs += from.connectionWaitMs;
  return addCounters(to, from);
}
