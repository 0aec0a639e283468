import type { Stream } from './stream.ts';

/** Why packets did not arrive. */
export type LossCause = 'random' | 'queue' | 'policed';

/**
 * Listens to what happens on the connections of a load, to explain it. Connections are told apart by
 * identity; times are milliseconds after navigationStart.
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
  /** A loss was noticed by a timer only. */
  timeout(connection: object, nowMs: number): void;
  /**
   * A repaired gap let go what waited behind it.
   *
   * @param of whose bytes were missing
   * @param heldMs longest wait of each stream whose bytes had arrived before
   */
  released(connection: object, of: Stream, heldMs: ReadonlyMap<Stream, number>, nowMs: number): void;
}
