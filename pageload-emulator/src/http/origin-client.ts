import type { Stream } from '../transport/stream.ts';
import type { TransportCounters } from '../transport/transport-counters.ts';

/** Counts of the events that the requests to one origin met, for explaining a result. */
export interface OriginCounters extends TransportCounters {
  /** Requests made. */
  requests: number;
  /** Connections begun. */
  connections: number;
  /** Requests that waited for a handshake. */
  waitedForHandshake: number;
  /** Sum of their waits, milliseconds. */
  handshakeMs: number;
  /** Requests that waited because the origin's six HTTP/1.1 connections were busy. */
  waitedForConnection: number;
  /** Sum of their waits, milliseconds. */
  connectionWaitMs: number;
}

/** The browser's connections to one origin. */
export interface OriginClient {
  /** Whether a connection is open, so that a request waits at most for other requests. */
  readonly open: boolean;
  /** Opens a connection ahead of the first request, unless there is one. */
  connect(): void;
  /** Sends the request as soon as the protocol allows. */
  fetch(stream: Stream): void;
  /** Must be called when the stream's response is complete. */
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

/** Adds `from`, times `weight`, to `to`. */
export function addOriginCounters(to: OriginCounters, from: OriginCounters, weight = 1): OriginCounters {
  for (const name of ORIGIN_COUNTERS) to[name] += from[name] * weight;
  return to;
}

const ORIGIN_COUNTERS = Object.keys(emptyCounters()) as (keyof OriginCounters)[];
