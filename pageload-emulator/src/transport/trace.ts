import type { Stream } from './stream.ts';

/** Why packets did not arrive. */
export type LossCause = 'random' | 'queue' | 'policed';

/**
 * Is called for events on the connections of a load, to explain it. Connections are identified by object identity; times are
 * milliseconds after navigationStart.
 */
export interface Trace {
  /** Name resolution and handshake begin. */
  opening(connection: object, nowMs: number): void;
  /** The first request may leave. */
  open(connection: object, nowMs: number): void;
  /** A request leaves. */
  request(connection: object, stream: Stream, nowMs: number): void;
  /** Packets sent together were lost: of a response, of the handshake or of a request. */
  lost(connection: object, packets: number, cause: LossCause, nowMs: number): void;
  /** Only a timer detected a loss. */
  timeout(connection: object, nowMs: number): void;
  /**
   * A repaired gap released the bytes that waited behind it.
   *
   * @param of the stream whose bytes were missing
   * @param heldMs longest wait of each stream with bytes behind the gap
   */
  released(connection: object, of: Stream, heldMs: ReadonlyMap<Stream, number>, nowMs: number): void;
}
