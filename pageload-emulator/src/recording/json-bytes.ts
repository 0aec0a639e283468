import { InputError } from '../util/input-error.ts';
import { BACKSLASH, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, SPACE } from './json-characters.ts';

/**
 * Limits of a recording's JSON. Parsing takes up to ten times the text in memory, and more for small values; within these
 * limits it stays below 256 MB. DevTools writes about 4,000 bytes a request without bodies, 250 values in 60 objects and
 * arrays, so that some 4,000 requests fit.
 */
const MAX = { bytes: 20 * 1024 * 1024, values: 1_000_000, containers: 250_000 };
/** Longer strings are dropped: response bodies are as long, no field that is read is. */
const MAX_STRING_BYTES = 65_536;
/** Bytes of a file, bodies included. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** Bytes read between two checks of the limits. */
const PIECE = 64 * 1024;

/** Names of HAR's fields with bodies, and of DevTools' with messages of web sockets. No field of these names is read. */
const BODY_NAMES = ['text', 'data'].map((name) => [...name].map((letter) => letter.charCodeAt(0)));
const BODY_NAME_LENGTH = 4;

/** How far a body's name has been read: its string has ended, then its colon. */
const NO_BODY = 0;
const NAMED = 1;
const EXPECTED = 2;

/**
 * Collects a JSON text (UTF-8) piece by piece and empties bodies, and any very long strings. A file may therefore be far larger than what
 * is kept of it.
 */
export class JsonBytes {
  #kept = new Uint8Array(4 * PIECE);
  #length = 0;
  #read = 0;
  #values = 0;
  #containers = 0;
  #inString = false;
  #escaped = false;
  /** Bytes of the current or last string. */
  #stringLength = 0;
  /** Longest that the current string may be. */
  #mostLength = MAX_STRING_BYTES;
  #body = NO_BODY;

  /**
   * Adds the next bytes of the text; those that are kept are copied.
   *
   * @throws InputError when the text exceeds what any recording needs
   */
  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += PIECE) {
      this.count(Math.min(PIECE, bytes.length - from));
      this.#grow();
      this.#addPiece(bytes.subarray(from, from + PIECE));
      if (this.#length > MAX.bytes) throw tooLarge(`${MAX.bytes / 1024 / 1024} MiB of JSON without bodies`);
      refuseMore(this.#values, this.#containers);
    }
  }

  /**
   * Counts bytes of the file, whether they are added or left out before.
   *
   * @throws InputError when the file is larger than any recording
   */
  count(bytes: number): void {
    this.#read += bytes;
    if (this.#read > MAX_READ_BYTES) throw tooLarge(`${MAX_READ_BYTES / 1024 / 1024} MiB`);
  }

  /**
   * Passes the kept bytes, JSON if the added text was JSON, to `decode` and releases them. Nothing can be added afterwards.
   *
   * @returns what `decode` returned
   */
  end(decode: (kept: Uint8Array) => string): string {
    const text = decode(this.#kept.subarray(0, this.#length));
    // Parsing takes much memory: the bytes should not wait for the next collection. Node 20 lacks `transfer`.
    const buffer: ArrayBuffer & { transfer?: (bytes: number) => ArrayBuffer } = this.#kept.buffer;
    buffer.transfer?.(0);
    return text;
  }

  #addPiece(bytes: Uint8Array): void {
    // Accessing private fields in the loop would make it several times slower.
    const kept = this.#kept;
    let length = this.#length;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let stringLength = this.#stringLength;
    let mostLength = this.#mostLength;
    let body = this.#body;
    for (let at = 0; at < bytes.length; at++) {
      if (inString && stringLength > mostLength) {
        const from = at;
        while (at < bytes.length && (escaped || bytes[at] !== QUOTE)) {
          escaped = !escaped && bytes[at] === BACKSLASH;
          at++;
        }
        stringLength += at - from;
        if (at === bytes.length) break;
      }
      const byte = bytes[at]!;
      if (!inString) {
        if (byte === QUOTE) {
          inString = true;
          stringLength = 0;
          mostLength = body === EXPECTED ? 0 : MAX_STRING_BYTES;
          body = NO_BODY;
        } else if (byte > SPACE) {
          body = byte === COLON && body === NAMED ? EXPECTED : NO_BODY;
          if (byte === COMMA) this.#values++;
          else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#containers++;
        }
      } else if (byte === QUOTE && !escaped) {
        inString = false;
        if (stringLength === BODY_NAME_LENGTH && isBodyName(kept, length)) body = NAMED;
      } else {
        escaped = byte === BACKSLASH && !escaped;
        stringLength++;
        // Drops what was kept of the string so far.
        if (stringLength === mostLength + 1) length -= mostLength;
        if (stringLength > mostLength) continue;
      }
      kept[length++] = byte;
    }
    this.#length = length;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#stringLength = stringLength;
    this.#mostLength = mostLength;
    this.#body = body;
  }

  #grow(): void {
    if (this.#length + PIECE <= this.#kept.length) return;
    const larger = new Uint8Array(Math.min(MAX.bytes + PIECE, 2 * this.#kept.length));
    larger.set(this.#kept);
    this.#kept = larger;
  }
}

/** Whether the last bytes that were kept are the name of a field with a body. */
function isBodyName(kept: Uint8Array, length: number): boolean {
  const from = length - BODY_NAME_LENGTH;
  return BODY_NAMES.some((name) => name.every((letter, index) => kept[from + index] === letter));
}

/**
 * Refuses a text that would take more memory than a recording may.
 *
 * @throws InputError naming the limit
 */
export function refuseLargeJson(text: string): void {
  if (text.length > MAX.bytes) throw tooLarge(`${MAX.bytes / 1024 / 1024} MiB of JSON`);
  let values = 0;
  let containers = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values++;
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) containers++;
  }
  refuseMore(values, containers);
}

function refuseMore(values: number, containers: number): void {
  if (values <= MAX.values && containers <= MAX.containers) return;
  throw tooLarge(`${MAX.values} values in ${MAX.containers} objects and arrays`);
}

function tooLarge(limit: string): InputError {
  return new InputError(`top level: expected at most ${limit}, got more`);
}
