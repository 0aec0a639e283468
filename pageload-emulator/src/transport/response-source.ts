import type { Stream } from './stream.ts';

/** Decides which response's bytes the server sends next. */
export interface ResponseSource {
  /** Whether no response has bytes to send. */
  readonly empty: boolean;
  /** The response whose bytes are next; null when there is none. */
  readonly next: Stream | null;
  /** Number of responses with bytes to send. */
  readonly streams: number;
  add(stream: Stream): void;
  /** Takes up to `room` bytes of the next response from its `unwritten`; returns how many. */
  take(room: number, packetBytes: number): number;
}
