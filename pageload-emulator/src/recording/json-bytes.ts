import { InputError } from './input-error.ts';

/**
 * What a recording may take of JSON. Reading takes up to ten times the text in memory, and more for small values: this
 * much stays below 256 MB. DevTools write about 4,000 bytes a request without bodies, 250 values in 60 objects and
 * arrays: some 4,000 requests.
 */
const MAX = { bytes: 20 * 1024 * 1024, values: 1_000_000, containers: 250_000 };
/** No field that is read is as long; response bodies are. */
const MAX_STRING_BYTES = 65_536;
/** What may be looked at for it. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** Bytes looked at between two checks. */
const PIECE = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * The bytes of a JSON text (UTF-8) as they come, without what is in very long strings: those are read as empty. So a
 * file may be far larger than what is kept of it, and none takes more memory than a recording does.
 */
export class JsonBytes {
  #kept = new Uint8Array(4 * PIECE);
  #length = 0;
  #read = 0;
  #values = 0;
  #containers = 0;
  #inString = false;
  #escaped = false;
  /** Of the string that is being read, or was. */
  #stringLength = 0;

  /**
   * @param bytes the next of the text, copied as far as they are kept
   * @throws InputError when there are more than any recording needs
   */
  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += PIECE) {
      this.#read += Math.min(PIECE, bytes.length - from);
      if (this.#read > MAX_READ_BYTES) throw tooLarge(`${MAX_READ_BYTES / 1024 / 1024} MiB`);
      this.#makeRoom();
      this.#addPiece(bytes.subarray(from, from + PIECE));
      if (this.#length > MAX.bytes) throw tooLarge(`${MAX.bytes / 1024 / 1024} MiB of JSON without bodies`);
      refuseMore(this.#values, this.#containers);
    }
  }

  /** All that is kept: JSON, if what was added is. */
  end(): Uint8Array {
    return this.#kept.subarray(0, this.#length);
  }

  #addPiece(bytes: Uint8Array): void {
    // Fields of its own would make the loop several times slower.
    const kept = this.#kept;
    let length = this.#length;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let stringLength = this.#stringLength;
    for (let at = 0; at < bytes.length; at++) {
      if (inString && stringLength > MAX_STRING_BYTES) {
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
        } else if (byte === COMMA) this.#values++;
        else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#containers++;
      } else if (byte === QUOTE && !escaped) {
        inString = false;
      } else {
        escaped = byte === BACKSLASH && !escaped;
        stringLength++;
        // What was kept of it so far goes.
        if (stringLength === MAX_STRING_BYTES + 1) length -= MAX_STRING_BYTES;
        if (stringLength > MAX_STRING_BYTES) continue;
      }
      kept[length++] = byte;
    }
    this.#length = length;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#stringLength = stringLength;
  }

  #makeRoom(): void {
    if (this.#length + PIECE <= this.#kept.length) return;
    const larger = new Uint8Array(Math.min(MAX.bytes + PIECE, 2 * this.#kept.length));
    larger.set(this.#kept);
    this.#kept = larger;
  }
}

/**
 * Refuses a text that would take more memory than a recording does.
 *
 * @throws InputError
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

function tooLarge(most: string): InputError {
  return new InputError(`top level: expected at most ${most}, got more`);
}
