/**
 * Native messaging's frames: a 32-bit length in native byte order, then that many bytes of UTF-8
 * JSON (developer.chrome.com, "Native messaging protocol").
 */
import { once } from 'node:events';
import { endianness } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { MAX_MESSAGE_TO_BROWSER_BYTES, SerialQueue } from '@hopwise/contract';

/** Bytes that are no valid frame. The stream cannot be resynchronised after them. */
export class FrameError extends Error {}

const HEADER_BYTES = 4;
const LITTLE_ENDIAN = endianness() === 'LE';

/**
 * Longest frame that the host accepts. Chromium would send 64 MiB; the largest plan that the schema
 * allows is smaller than this.
 */
const MAX_MESSAGE_TO_HOST_BYTES = 48 * 1024 * 1024;

/**
 * The JSON values in the frames of `input`. A frame is read when the consumer asks for it. Ends when the input ends
 * between two frames.
 *
 * @throws FrameError for a length out of bounds, bytes that are not JSON in UTF-8, and an end inside a frame.
 */
export async function* readFrames(
  input: Readable,
  maxBytes: number = MAX_MESSAGE_TO_HOST_BYTES,
): AsyncGenerator<unknown> {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = HEADER_BYTES;
  let inHeader = true;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    held += (chunk as Buffer).length;
    while (held >= wanted) {
      // Only bytes that have arrived are held: an announced length allocates nothing.
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, held);
      const piece = all.subarray(0, wanted);
      const rest = all.subarray(wanted);
      chunks = rest.length > 0 ? [rest] : [];
      held = rest.length;
      if (inHeader) {
        wanted = LITTLE_ENDIAN ? piece.readUInt32LE() : piece.readUInt32BE();
        if (wanted === 0 || wanted > maxBytes) {
          throw new FrameError(
            `not a native-messaging frame: its length says ${wanted} bytes, expected 1 to ${maxBytes}`,
          );
        }
        inHeader = false;
      } else {
        wanted = HEADER_BYTES;
        inHeader = true;
        yield parse(piece);
      }
    }
  }
  if (held > 0 || !inHeader) {
    throw new FrameError(`the input ended inside a frame: ${held} of ${wanted} bytes had arrived`);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw new FrameError(`a frame of ${bytes.length} bytes is not JSON in UTF-8`);
  }
}

/** The frame of one message. */
export function frame(message: unknown, maxBytes: number = MAX_MESSAGE_TO_BROWSER_BYTES): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > maxBytes) {
    throw new FrameError(`a message of ${body.length} bytes exceeds the ${maxBytes} that browsers accept`);
  }
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  if (LITTLE_ENDIAN) bytes.writeUInt32LE(body.length);
  else bytes.writeUInt32BE(body.length);
  body.copy(bytes, HEADER_BYTES);
  return bytes;
}

/** Writes frames one after the other and waits for a slow reader. */
export class MessageWriter {
  readonly #output: Writable;
  readonly #closing = new AbortController();
  readonly #queue = new SerialQueue();

  constructor(output: Writable) {
    this.#output = output;
  }

  /** Messages that the reader has not consumed. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Resolves when the stream accepts more; rejects when it is broken. */
  write(message: unknown): Promise<void> {
    const bytes = frame(message);
    return this.#queue.run(async () => {
      this.#closing.signal.throwIfAborted();
      if (!this.#output.write(bytes)) await once(this.#output, 'drain', { signal: this.#closing.signal });
    });
  }

  /** Stops waiting for the reader: messages that are not written yet are rejected. */
  close(): void {
    this.#closing.abort(new Error('the port is closed'));
  }
}
