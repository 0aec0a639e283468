import { MAX_SCRIPTS } from '../har/stack-scripts.ts';
import { AsciiWords } from './ascii-words.ts';
import { CLOSE_ARRAY, COLON, COMMA, OPEN_ARRAY } from './json-characters.ts';
import type { KeptJson } from './kept-json.ts';

const URL_FIELD = new AsciiWords([['url', true]]);

/**
 * Keeps the URLs of the scripts in a stack alone, each once, as an array of strings in the stack's place: a stack has an object for every
 * function, most of them in a few scripts. Depths are counts of open objects and arrays.
 */
export class Stacks {
  readonly #kept: KeptJson;
  /** Depth in the stack; null outside of one. */
  #depth: number | null = null;
  /** Whether the last string may be a field's name, `url`. */
  #isUrlField = false;
  /** Whether the next or current string is a script's URL. */
  #isUrl = false;
  /** Where the URLs of the current stack are in what is kept, with hashes, so that URLs that are alike are compared once. */
  #urls: { from: number; end: number; hash: number }[] = [];
  /** Length of what was kept before the current string. */
  #before = 0;

  constructor(kept: KeptJson) {
    this.#kept = kept;
  }

  get isOpen(): boolean {
    return this.#depth !== null;
  }

  /** Begins a stack with an object or array at `depth`. */
  begin(depth: number): void {
    this.#depth = depth;
    this.#urls = [];
    this.#kept.add(OPEN_ARRAY);
    this.#kept.containers++;
  }

  /** Tells of the object or array that has ended at `depth`. */
  close(depth: number): void {
    this.noteSeparator(undefined);
    if (depth !== this.#depth) return;
    this.#depth = null;
    this.#kept.add(CLOSE_ARRAY);
  }

  /** Notes a byte between strings, undefined for a bracket: only a colon after `url` makes the next string a script's URL. */
  noteSeparator(byte: number | undefined): void {
    this.#isUrl = byte === COLON && this.#isUrlField;
    this.#isUrlField = false;
  }

  beginString(): void {
    this.#before = this.#kept.length;
    if (this.#urls.length > 0) this.#kept.add(COMMA);
  }

  /** Keeps the string that has ended, which is in what is kept from `from` to before `end`, or takes it back. */
  endString(from: number, end: number): void {
    if (this.#isUrl && this.#addUrl(from, end)) this.#kept.values++;
    else {
      this.#isUrlField = !this.#isUrl && URL_FIELD.find(this.#kept.bytes, from, end) === true;
      this.#kept.length = this.#before;
    }
    this.#isUrl = false;
  }

  /** Adds a URL, unless it is empty, there already or one too many. @returns whether it was added */
  #addUrl(from: number, end: number): boolean {
    if (end === from || this.#urls.length >= MAX_SCRIPTS) return false;
    const { bytes } = this.#kept;
    const hash = hashBytes(bytes, from, end);
    for (const url of this.#urls) {
      if (url.hash !== hash || url.end - url.from !== end - from) continue;
      if (areSame(bytes, url.from, from, end)) return false;
    }
    this.#urls.push({ from, end, hash });
    return true;
  }
}

/** Hashes the bytes from `from` to before `end` (FNV-1a, 32 bits). */
function hashBytes(bytes: Uint8Array, from: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}

/** Whether the bytes at `other` are those from `from` to before `end`. */
function areSame(bytes: Uint8Array, other: number, from: number, end: number): boolean {
  for (let at = from, to = other; at < end; at++, to++) {
    if (bytes[at] !== bytes[to]) return false;
  }
  return true;
}
