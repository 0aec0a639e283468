import { AsciiWords } from './ascii-words.ts';
import { HeaderLists } from './header-lists.ts';
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
import { MAX_READ_BYTES, tooLarge } from './json-limits.ts';
import { KeptJson } from './kept-json.ts';
import { Stacks } from './stacks.ts';

/** Longer strings are dropped: response bodies are as long, no field that is read is. */
const MAX_STRING_BYTES = 65_536;

/** Bytes read between two checks of the limits. At most one more is kept of them: a comma before a script's URL. */
const PIECE = 64 * 1024;

/** What the value of a field is to `JsonBytes`. */
type FieldKind = 'body' | 'unread' | 'stack' | 'headers' | 'name';

/**
 * Fields of HARs, of DevTools (messages of web sockets, stacks) and of traces (stacks) that are more than half of a file and not read as
 * they are: bodies, which are strings and are emptied, lists and objects, which are emptied too, stacks, of which the scripts' URLs are
 * kept, and lists of headers, of which some are read.
 */
const FIELDS = new AsciiWords<FieldKind>([
  ['text', 'body'],
  ['data', 'body'],
  ['cookies', 'unread'],
  ['queryString', 'unread'],
  ['postData', 'unread'],
  ['_webSocketMessages', 'unread'],
  ['stack', 'stack'],
  ['stackTrace', 'stack'],
  ['headers', 'headers'],
  ['name', 'name'],
]);

/**
 * Collects a JSON text (UTF-8) piece by piece without what no recording is read for: it empties bodies, any very long strings, cookies,
 * queries and forms, and leaves out headers, frames of stacks and indentation. A file may therefore be far larger than what is kept of it.
 */
export class JsonBytes {
  readonly #kept = new KeptJson();
  readonly #headers = new HeaderLists(this.#kept);
  readonly #stacks = new Stacks(this.#kept);
  #read = 0;
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

  /**
   * Adds the next bytes of the text; those that are kept are copied.
   *
   * @throws InputError when the text exceeds what any recording needs
   */
  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += PIECE) {
      this.count(Math.min(PIECE, bytes.length - from));
      this.#kept.reserve(PIECE + 1);
      this.#addPiece(bytes.subarray(from, from + PIECE));
      this.#kept.refuseMore();
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
    const text = decode(this.#kept.bytes.subarray(0, this.#kept.length));
    this.#kept.release();
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
    const kept = this.#kept;
    const length = kept.length + end - from;
    if (length - this.#stringStart > this.#mostLength) {
      kept.length = this.#stringStart;
      this.#mostLength = 0;
      return;
    }
    const to = kept.bytes;
    for (let at = from, toAt = kept.length; at < end; at++, toAt++) to[toAt] = bytes[at]!;
    kept.length = length;
  }

  #endString(): void {
    this.#stringEnd = this.#kept.length;
    this.#kept.add(QUOTE);
    if (this.#stacks.isOpen) this.#stacks.endString(this.#stringStart, this.#stringEnd);
    else this.#headers.endString(this.#stringStart, this.#stringEnd);
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
        const last = this.#kept.bytes[this.#kept.length - 1];
        if (this.#unreadDepth === null && separates(last)) this.#kept.add(byte);
        while (at + 1 < bytes.length && bytes[at + 1]! <= SPACE) at++;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(byte);
      else {
        if (this.#unreadDepth !== null) continue;
        if (this.#stacks.isOpen) {
          this.#stacks.noteSeparator(byte);
          continue;
        }
        this.#kept.add(byte);
        if (byte === COLON) this.#field = this.#fieldNamed();
        else if (byte === COMMA) {
          this.#kept.values++;
          this.#field = undefined;
        }
      }
    }
    return bytes.length;
  }

  #beginString(): void {
    this.#inString = true;
    if (this.#unreadDepth !== null) return;
    if (this.#stacks.isOpen) this.#stacks.beginString();
    this.#kept.add(QUOTE);
    this.#stringStart = this.#kept.length;
    this.#mostLength = this.#field === 'body' ? 0 : MAX_STRING_BYTES;
    this.#headers.beginString(this.#field === 'name', this.#depth);
    this.#field = undefined;
  }

  #fieldNamed(): FieldKind | undefined {
    return FIELDS.find(this.#kept.bytes, this.#stringStart, this.#stringEnd);
  }

  #open(byte: number): void {
    this.#depth++;
    if (this.#unreadDepth !== null) return;
    if (this.#stacks.isOpen) this.#stacks.noteSeparator(undefined);
    else if (this.#field === 'stack') this.#stacks.begin(this.#depth);
    else this.#openKept(byte);
    this.#field = undefined;
  }

  #openKept(byte: number): void {
    this.#kept.add(byte);
    this.#kept.containers++;
    if (this.#field === 'unread') this.#unreadDepth = this.#depth;
    else if (this.#headers.hasHeaderAt(this.#depth)) this.#headers.beginHeader();
    else if (this.#field === 'headers' && byte === OPEN_ARRAY) this.#headers.begin(this.#depth);
  }

  #close(byte: number): void {
    if (this.#unreadDepth === this.#depth) this.#unreadDepth = null;
    if (this.#unreadDepth === null) {
      if (this.#stacks.isOpen) this.#stacks.close(this.#depth);
      else this.#kept.add(byte);
      this.#field = undefined;
      this.#headers.close(this.#depth);
    }
    this.#depth--;
  }
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
