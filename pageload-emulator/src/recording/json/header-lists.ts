import { HEADER_NAMES } from '../har/header-names.ts';
import { AsciiWords } from './ascii-words.ts';
import { COLON } from './json-characters.ts';
import type { KeptJson, Mark } from './kept-json.ts';

const READ_HEADERS = new AsciiWords(HEADER_NAMES.map((name) => [name, true] as const));

/**
 * Takes back headers that are not read: objects in a list of headers, by their names. The first of a list is always kept: that there are
 * headers tells something, too. Depths are counts of open objects and arrays.
 */
export class HeaderLists {
  readonly #kept: KeptJson;
  /** Depth in the list of headers; null outside of one. */
  #depth: number | null = null;
  /** Whether the current string is the current header's name. */
  #isName = false;
  /** Whether the current header is kept. */
  #isRead = true;
  #isFirst = true;
  /** What was kept up to the end of the last header that is kept. */
  #before: Mark;

  constructor(kept: KeptJson) {
    this.#kept = kept;
    this.#before = kept.mark();
  }

  /** Begins a list with an array at `depth`, unless it is within another one. */
  begin(depth: number): void {
    if (this.#depth !== null) return;
    this.#depth = depth;
    this.#isFirst = true;
  }

  /** Whether what is at `depth` is directly in a header. */
  hasHeaderAt(depth: number): boolean {
    return this.#depth !== null && depth === this.#depth + 1;
  }

  /** Begins a header, which is kept unless its name says otherwise. */
  beginHeader(): void {
    this.#isRead = true;
  }

  /** Tells of a string that begins at `depth`, and whether it is the value of a field `name`. */
  beginString(isName: boolean, depth: number): void {
    this.#isName = isName && this.hasHeaderAt(depth);
  }

  /** Tells of the string that has ended, which is in what is kept from `from` to before `end`. */
  endString(from: number, end: number): void {
    if (!this.#isName) return;
    this.#isName = false;
    this.#isRead = this.#isFirst || isReadHeader(this.#kept.bytes, from, end);
  }

  /** Tells of the object or array that has ended at `depth`. */
  close(depth: number): void {
    if (this.hasHeaderAt(depth)) this.#endHeader();
    else if (this.#depth === depth) this.#depth = null;
  }

  /** Keeps the header that has ended, or takes back what was kept of it and of the comma before it. */
  #endHeader(): void {
    if (!this.#isRead) {
      this.#kept.takeBack(this.#before);
      return;
    }
    this.#isFirst = false;
    this.#before = this.#kept.mark();
  }
}

/** Whether the bytes from `from` to before `end` are the name of a header that is read. */
function isReadHeader(bytes: Uint8Array, from: number, end: number): boolean {
  return bytes[from] === COLON || READ_HEADERS.find(bytes, from, end) === true;
}
