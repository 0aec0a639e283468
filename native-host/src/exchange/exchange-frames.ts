/**
 * Frames between the host and the engine's process: payload length and exchange as 32-bit numbers
 * (little-endian), kind as a byte, payload.
 */

/** Kinds, and which side sends them. `BODY` and `END` belong to the request in one direction, to the response in the other. */
export const FRAME = {
  /** Host; an `ExchangeOrder` as JSON. */
  REQUEST: 1,
  /** Host; empty. The engine sends no further frame of the exchange. */
  CANCEL: 2,
  /** Both; body bytes, never more than were granted. */
  BODY: 3,
  /** Both; empty from the host; from the engine an `ExchangeEnd` as JSON, its last frame. */
  END: 4,
  /** Both; 32 bits: how many more body bytes may be sent. */
  CREDIT: 5,
  /** Engine; a `ResponseSection` as JSON. */
  INFORMATIONAL: 6,
  /** Engine; a `ResponseSection` as JSON. */
  HEAD: 7,
  /** Engine; an `ExchangeFault` as JSON, its last frame. */
  FAULT: 8,
  /** Engine; empty: nothing at all comes back from the origin of the exchange, over QUIC. */
  SILENT: 9,
  /** Engine; empty: something has come back after all. */
  HEARD: 10,
  /** Host; a `ReleaseOrder` as JSON, of no exchange: those connections close as soon as they are idle. */
  RELEASE: 11,
} as const;

export const FRAME_HEADER_BYTES = 9;

/** libcurl accepts response headers of 300 kB in all, of which JSON encodes a byte in up to six. */
export const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;

/** Bytes that are no valid frame. The stream cannot be resynchronised after them. */
export class ExchangeFrameError extends Error {}

export interface FrameHandler {
  onFrame(kind: number, exchange: number, payload: Buffer): void;
  /** A piece of a body frame, as soon as it has arrived. The handler may keep it. */
  onBody(exchange: number, piece: Buffer): void;
}

/** Writes the header of a frame with `length` bytes of payload. */
export function writeFrameHeader(
  target: Buffer,
  offset: number,
  kind: number,
  exchange: number,
  length: number,
): void {
  target.writeUInt32LE(length, offset);
  target.writeUInt32LE(exchange, offset + 4);
  target.writeUInt8(kind, offset + 8);
}

/** A whole frame. */
export function encodeFrame(kind: number, exchange: number, payload: Uint8Array = EMPTY): Buffer {
  const whole = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  writeFrameHeader(whole, 0, kind, exchange, payload.length);
  whole.set(payload, FRAME_HEADER_BYTES);
  return whole;
}

/** @throws ExchangeFrameError when the JSON exceeds `MAX_PAYLOAD_BYTES`. */
export function jsonPayload(value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  if (payload.length > MAX_PAYLOAD_BYTES) throw new ExchangeFrameError('more headers than a frame carries');
  return payload;
}

export function creditPayload(bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32LE(bytes);
  return payload;
}

/** @throws ExchangeFrameError */
export function creditOf(payload: Buffer): number {
  if (payload.length !== 4) throw new ExchangeFrameError(`a credit of ${payload.length} bytes`);
  return payload.readUInt32LE();
}

const EMPTY = new Uint8Array(0);

/** Parses a stream of frames. Bodies are passed on in pieces, other frames once they are complete. */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #kind = 0;
  #exchange = 0;
  /** Payload bytes of the current frame that have not arrived. */
  #left = 0;
  #pieces: Buffer[] = [];

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** @throws ExchangeFrameError for an invalid kind or length. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) {
        const copied = chunk.copy(this.#header, this.#headerBytes, at);
        this.#headerBytes += copied;
        at += copied;
        if (this.#headerBytes === FRAME_HEADER_BYTES) this.#open();
        continue;
      }
      const piece = chunk.subarray(at, at + this.#left);
      at += piece.length;
      this.#left -= piece.length;
      if (this.#kind === FRAME.BODY) this.#handler.onBody(this.#exchange, ownMemory(piece, chunk));
      else this.#pieces.push(piece);
      if (this.#left === 0) this.#close();
    }
  }

  #open(): void {
    this.#left = this.#header.readUInt32LE(0);
    this.#exchange = this.#header.readUInt32LE(4);
    this.#kind = this.#header.readUInt8(8);
    if (this.#kind < FRAME.REQUEST || this.#kind > FRAME.RELEASE) {
      throw new ExchangeFrameError(`a frame of kind ${this.#kind}`);
    }
    if (this.#left > MAX_PAYLOAD_BYTES) throw new ExchangeFrameError(`a frame of ${this.#left} bytes`);
    if (this.#left === 0) this.#close();
  }

  #close(): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#headerBytes = 0;
    if (this.#kind === FRAME.BODY) return;
    this.#handler.onFrame(
      this.#kind,
      this.#exchange,
      pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces),
    );
  }
}

/** A small piece is copied, so that it does not keep the whole chunk that it came in. */
function ownMemory(piece: Buffer, chunk: Buffer): Buffer {
  return piece.length * 4 < chunk.length ? Buffer.from(piece) : piece;
}
