import type { Writable } from 'node:stream';
import type { Pointer } from '../curl/libcurl.ts';
import type { NativeMemory } from '../curl/native-memory.ts';
import { encodeFrame, FRAME, FRAME_HEADER_BYTES, jsonPayload, writeFrameHeader } from './exchange-frames.ts';

/** Size of one write to the pipe: less costs more system calls, more does not fit into the pipe. */
const SLAB_BYTES = 64 * 1024;

const NO_PAYLOAD = new Uint8Array(0);

/**
 * Collects the frames of one turn of the event loop. libcurl delivers bodies in pieces of at most 16 kB; consecutive pieces of
 * one exchange become one frame.
 */
export class FrameBatch {
  readonly #pipe: Writable;
  readonly #memory: NativeMemory;
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #used = 0;
  /** Offset of the header of the body frame that may still grow; -1 for none. */
  #bodyAt = -1;
  #bodyOf = 0;
  #soon: NodeJS.Immediate | null = null;

  constructor(pipe: Writable, memory: NativeMemory) {
    this.#pipe = pipe;
    this.#memory = memory;
  }

  add(kind: number, exchange: number, payload: Uint8Array = NO_PAYLOAD): void {
    const bytes = FRAME_HEADER_BYTES + payload.length;
    if (bytes > SLAB_BYTES - this.#used) this.flush();
    this.#bodyAt = -1;
    if (bytes > SLAB_BYTES) {
      this.#pipe.write(encodeFrame(kind, exchange, payload));
      return;
    }
    writeFrameHeader(this.#slab, this.#used, kind, exchange, payload.length);
    this.#slab.set(payload, this.#used + FRAME_HEADER_BYTES);
    this.#used += bytes;
    this.#soon ??= setImmediate(() => this.flush());
  }

  addJson(kind: number, exchange: number, value: unknown): void {
    this.add(kind, exchange, jsonPayload(value));
  }

  /** Copies `length` body bytes out of C's memory. */
  addBody(exchange: number, from: Pointer, length: number): void {
    let done = 0;
    while (done < length) {
      const extend = this.#bodyAt >= 0 && this.#bodyOf === exchange && this.#used < SLAB_BYTES;
      if (!extend) this.#openBody(exchange);
      const part = Math.min(length - done, SLAB_BYTES - this.#used);
      this.#memory.read(from + BigInt(done), this.#slab.subarray(this.#used, this.#used + part));
      this.#used += part;
      done += part;
      const bytes = this.#used - this.#bodyAt - FRAME_HEADER_BYTES;
      this.#slab.writeUInt32LE(bytes, this.#bodyAt);
    }
    this.#soon ??= setImmediate(() => this.flush());
  }

  #openBody(exchange: number): void {
    if (SLAB_BYTES - this.#used <= FRAME_HEADER_BYTES) this.flush();
    this.#bodyAt = this.#used;
    this.#bodyOf = exchange;
    writeFrameHeader(this.#slab, this.#used, FRAME.BODY, exchange, 0);
    this.#used += FRAME_HEADER_BYTES;
  }

  /** Writes the collected frames now, not at the end of the turn. */
  flush(): void {
    if (this.#soon) clearImmediate(this.#soon);
    this.#soon = null;
    this.#bodyAt = -1;
    if (this.#used === 0) return;
    this.#pipe.write(this.#slab.subarray(0, this.#used));
    // The buffer may be reused only if the pipe has taken all of it.
    if (this.#pipe.writableLength > 0) this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#used = 0;
  }
}
