import { InputError } from '../util/input-error.ts';
import { AsciiWords } from './ascii-words.ts';
import { HEADER_NAMES } from './har/header-names.ts';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from './json-characters.ts';

/**
 * Limits of what is kept of a recording's JSON. Parsing takes up to ten times the text in memory, and more for small values; within these
 * limits it stays below 256 MB. Of what DevTools writes for a request some 1,800 bytes are kept, 80 values in 25 objects and arrays, and
 * one more for each frame of its stack, so that some 8,000 requests fit.
 */
const MAX = { bytes: 20 * 1024 * 1024, values: 1_000_000, containers: 250_000 };
/** Longer strings are dropped: response bodies are as long, no field that is read is. */
const MAX_STRING_BYTES = 65_536;
/** Bytes of a file, bodies included. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** Bytes read between two checks of the limits. */
const PIECE = 64 * 1024;

/** What the value of a field is to `JsonBytes`. */
type FieldKind = 'body' | 'unread' | 'headers' | 'name';

/**
 * HAR's fields, and DevTools' with messages of web sockets, that are more than half of a file and not read: bodies, which are strings
 * and are emptied, lists and objects, which are emptied too, and lists of headers, of which some are read.
 */
const FIELDS = new AsciiWords<FieldKind>([
  ['text', 'body'],
  ['data', 'body'],
  ['cookies', 'unread'],
  ['queryString', 'unread'],
  ['postData', 'unread'],
  ['_webSocketMessages', 'unread'],
  ['headers', 'headers'],
  ['name', 'name'],
]);
const READ_HEADERS = new AsciiWords(HEADER_NAMES.map((name) => [name, true] as const));

/**
 * Collects a JSON text (UTF-8) piece by piece without what no recording is read for: it empties bodies, any very long strings, cookies,
 * queries and forms, and leaves out headers and indentation. A file may therefore be far larger than what is kept of it.
 */
export class JsonBytes {
  #kept = new Uint8Array(4 * PIECE);
  #length = 0;
  #read = 0;
  /** Counted in what is kept. */
  #values = 0;
  #containers = 0;
  #inString = false;
  #escaped = false;
  /** Where the current or last string is in what is kept, without its quotes. */
  #stringStart = 0;
  #stringEnd = 0;
  /** Longest that the current string may be. */
  #mostLength = MAX_STRING_BYTES;
  /** Kind of the field whose name was read last, until its value begins. */
  #field: FieldKind | undefined;
  /** Objects and arrays that are open. */
  #depth = 0;
  /** `#depth` in the object or array that is being left out; null outside of one. */
  #unreadDepth: number | null = null;
  /** `#depth` in the list of headers; null outside of one. */
  #headersDepth: number | null = null;
  /** Whether the current header's name is the current string. */
  #isHeaderName = false;
  /** Whether the current header is kept. The first of a list always is: that there are headers tells something, too. */
  #isHeaderRead = true;
  #isFirstHeader = true;
  /** What was kept up to the end of the last header that is kept. */
  #beforeHeader = { length: 0, values: 0, containers: 0 };

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
    release(this.#kept);
    return text;
  }

  #addPiece(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) at = this.#inString ? this.#addString(bytes, at) : this.#addOthers(bytes, at);
  }

  /** Adds the bytes from `from` to the end of the string that they are in, and returns where that is. */
  #addString(bytes: Uint8Array, from: number): number {
    let escaped = this.#escaped;
    let end = from;
    for (; end < bytes.length; end++) {
      const byte = bytes[end]!;
      if (escaped) escaped = false;
      else if (byte === QUOTE) break;
      else escaped = byte === BACKSLASH;
    }
    this.#escaped = escaped;
    if (this.#unreadDepth === null) this.#keepInString(bytes, from, end);
    if (end === bytes.length) return end;
    this.#inString = false;
    if (this.#unreadDepth === null) this.#endString();
    return end + 1;
  }

  #keepInString(bytes: Uint8Array, from: number, end: number): void {
    const length = this.#length + end - from;
    if (length - this.#stringStart > this.#mostLength) {
      this.#length = this.#stringStart;
      this.#mostLength = 0;
      return;
    }
    const kept = this.#kept;
    for (let at = from, to = this.#length; at < end; at++, to++) kept[to] = bytes[at]!;
    this.#length = length;
  }

  #endString(): void {
    this.#stringEnd = this.#length;
    this.#kept[this.#length++] = QUOTE;
    if (!this.#isHeaderName) return;
    this.#isHeaderName = false;
    this.#isHeaderRead = this.#isFirstHeader || isReadHeader(this.#kept, this.#stringStart, this.#stringEnd);
  }

  /** Adds the bytes from `from` to the beginning of the next string, and returns where that is. */
  #addOthers(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#beginString();
        return at + 1;
      }
      if (byte <= SPACE) {
        if (separates(this.#kept[this.#length - 1])) this.#keep(byte);
        while (at + 1 < bytes.length && bytes[at + 1]! <= SPACE) at++;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(byte);
      else {
        this.#keep(byte);
        if (this.#unreadDepth !== null) continue;
        if (byte === COLON) this.#field = this.#fieldNamed();
        else if (byte === COMMA) {
          this.#values++;
          this.#field = undefined;
        }
      }
    }
    return bytes.length;
  }

  #keep(byte: number): void {
    if (this.#unreadDepth === null) this.#kept[this.#length++] = byte;
  }

  #beginString(): void {
    this.#inString = true;
    if (this.#unreadDepth !== null) return;
    this.#kept[this.#length++] = QUOTE;
    this.#stringStart = this.#length;
    this.#mostLength = this.#field === 'body' ? 0 : MAX_STRING_BYTES;
    this.#isHeaderName = this.#field === 'name' && this.#isInHeader();
    this.#field = undefined;
  }

  #fieldNamed(): FieldKind | undefined {
    return FIELDS.find(this.#kept, this.#stringStart, this.#stringEnd);
  }

  #open(byte: number): void {
    this.#keep(byte);
    this.#depth++;
    if (this.#unreadDepth !== null) return;
    this.#containers++;
    if (this.#field === 'unread') this.#unreadDepth = this.#depth;
    else if (this.#isInHeader()) this.#isHeaderRead = true;
    else if (this.#field === 'headers' && byte === OPEN_ARRAY && this.#headersDepth === null) {
      this.#headersDepth = this.#depth;
      this.#isFirstHeader = true;
    }
    this.#field = undefined;
  }

  #close(byte: number): void {
    if (this.#unreadDepth === this.#depth) this.#unreadDepth = null;
    this.#keep(byte);
    if (this.#unreadDepth === null) {
      this.#field = undefined;
      if (this.#isInHeader()) this.#endHeader();
      else if (this.#headersDepth === this.#depth) this.#headersDepth = null;
    }
    this.#depth--;
  }

  #isInHeader(): boolean {
    return this.#headersDepth !== null && this.#depth === this.#headersDepth + 1;
  }

  /** Keeps the header that has ended, or takes back what was kept of it and of the comma before it. */
  #endHeader(): void {
    if (this.#isHeaderRead) {
      this.#isFirstHeader = false;
      this.#beforeHeader = { length: this.#length, values: this.#values, containers: this.#containers };
    } else {
      const { length, values, containers } = this.#beforeHeader;
      this.#length = length;
      this.#values = values;
      this.#containers = containers;
    }
  }

  #grow(): void {
    if (this.#length + PIECE <= this.#kept.length) return;
    const larger = new Uint8Array(Math.min(MAX.bytes + PIECE, 2 * this.#kept.length));
    larger.set(this.#kept);
    release(this.#kept);
    this.#kept = larger;
  }
}

/** Gives memory back at once. Parsing takes much: bytes should not wait for the next collection. */
function release(bytes: Uint8Array<ArrayBuffer>): void {
  // Node 20 lacks `transfer`.
  const buffer: ArrayBuffer & { transfer?: (bytes: number) => ArrayBuffer } = bytes.buffer;
  buffer.transfer?.(0);
}

/** Whether blanks after a byte of JSON, outside of strings, may separate it from the next one: numbers and words would grow together. */
function separates(byte: number | undefined): boolean {
  switch (byte) {
    case undefined:
    case QUOTE:
    case COMMA:
    case COLON:
    case OPEN_ARRAY:
    case CLOSE_ARRAY:
    case OPEN_OBJECT:
    case CLOSE_OBJECT:
      return false;
    default:
      return byte > SPACE;
  }
}

/** Whether the bytes from `from` to before `end` are the name of a header that is read. */
function isReadHeader(bytes: Uint8Array, from: number, end: number): boolean {
  return bytes[from] === COLON || READ_HEADERS.find(bytes, from, end) === true;
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
