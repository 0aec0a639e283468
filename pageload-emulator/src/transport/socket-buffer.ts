import type { ResponseSource, Stream } from './stream.ts';

/**
 * Room of a new socket's send buffer for data, bytes. Linux gives two initial windows of 4,352 bytes for each segment, bookkeeping included
 * (`tcp_sndbuf_expand`), of which data has about nine tenths.
 */
const INITIAL_BYTES = 80_000;
/** Data that a grown buffer holds, in congestion windows: 2 · 4,352 bytes for each segment of 1,448. */
const WINDOWS = 5.5;
/** `tcp_wmem[2]`, the limit of its growth. */
const MAX_BYTES = 4_000_000;
/** A server that found the buffer full writes on when it holds at most this share (`sk_stream_min_wspace`). */
const MAX_HELD = 2 / 3;
/** A server writes at most a frame at a time (RFC 9113 section 4.2). */
const FRAME_BYTES = 16_384;

/** The send buffer of a TCP socket, as the sender shows it. */
export interface SendWindow {
  /** Congestion window, bytes. */
  readonly windowBytes: number;
  /** Sent and not yet acknowledged. */
  readonly inFlightBytes: number;
}

interface Chunk {
  stream: Stream;
  bytes: number;
}

/**
 * What a server has written to a TCP socket: it is sent in that order, whatever becomes ready later, however urgent. The server writes on as
 * long as the socket's buffer has room, which holds what is in flight too.
 */
export class SocketBuffer implements ResponseSource {
  readonly #source: ResponseSource;
  readonly #window: SendWindow;
  #limitBytes = INITIAL_BYTES;
  #chunks: Chunk[] = [];
  #first = 0;
  #bytes = 0;

  /** @param source decides whose bytes the server writes next */
  constructor(source: ResponseSource, window: SendWindow) {
    this.#source = source;
    this.#window = window;
  }

  get empty(): boolean {
    return this.#first === this.#chunks.length && this.#source.empty;
  }

  get next(): Stream | null {
    this.#write();
    return this.#chunks[this.#first]?.stream ?? null;
  }

  get streams(): number {
    return this.#source.streams;
  }

  add(stream: Stream): void {
    // What had room before this response was ready has been written.
    this.#write();
    this.#source.add(stream);
    this.#write();
  }

  take(room: number): number {
    const chunk = this.#chunks[this.#first];
    if (chunk === undefined) return 0;
    const bytes = Math.min(room, chunk.bytes);
    chunk.bytes -= bytes;
    this.#bytes -= bytes;
    if (chunk.bytes === 0) this.#first++;
    if (this.#first === this.#chunks.length) {
      this.#chunks = [];
      this.#first = 0;
    }
    return bytes;
  }

  #write(): void {
    const { windowBytes, inFlightBytes } = this.#window;
    if (this.#bytes === 0) this.#enlarge(windowBytes);
    else if (inFlightBytes + this.#bytes > MAX_HELD * this.#limitBytes) return;
    let room = Math.floor(this.#limitBytes - inFlightBytes - this.#bytes);
    while (room > 0) {
      const stream = this.#source.next;
      if (stream === null) return;
      const bytes = this.#source.take(Math.min(room, FRAME_BYTES), FRAME_BYTES);
      const last = this.#chunks.at(-1);
      if (last?.stream === stream) last.bytes += bytes;
      else this.#chunks.push({ stream, bytes });
      this.#bytes += bytes;
      room -= bytes;
    }
  }

  /** The kernel enlarges the buffer when the window could have carried more. */
  #enlarge(windowBytes: number): void {
    if (windowBytes <= MAX_HELD * this.#limitBytes) return;
    this.#limitBytes = Math.max(this.#limitBytes, windowBytes, Math.min(MAX_BYTES, WINDOWS * windowBytes));
  }
}
