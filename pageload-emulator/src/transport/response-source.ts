import type { Stream } from './stream.ts';

/** Decides whose bytes the server sends next. */
export interface ResponseSource {
  readonly empty: boolean;
  /** The response whose bytes are next, null when there are none. */
  readonly next: Stream | null;
  /** Responses of which something is left to send. */
  readonly streams: number;
  add(stream: Stream): void;
  /** Takes up to `room` bytes of the next response from its `unsent`; returns how many. */
  take(room: number, packetBytes: number): number;
}
