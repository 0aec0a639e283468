import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../json/json-characters.ts';
import { EVENT_NAMES } from './trace-events.ts';

/** Depth of a trace's events: in an array of the outermost object. */
const EVENT_DEPTH = 3;
/** Longer strings are neither names of events nor of fields that are looked at. */
const MAX_NAME_LENGTH = 40;

/**
 * Leaves out of a Chrome trace, which comes piece by piece, all events but those of requests and page loads: a trace of some seconds has a
 * hundred thousand others.
 */
export class TraceBytes {
  readonly #take: (bytes: Uint8Array) => void;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The current or last string, cut short. */
  #text = '';
  /** The last key at the depth where it counts. */
  #key = '';
  #inEvents = false;
  /** Pieces of the current event; null outside of one. */
  #event: Uint8Array[] | null = null;
  #name = '';
  #isFirst = true;

  /** @param take gets what is kept of the trace's JSON, in pieces */
  constructor(take: (bytes: Uint8Array) => void) {
    this.#take = take;
  }

  add(bytes: Uint8Array): void {
    // From where on bytes are neither kept nor left out yet.
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#inString) {
        this.#addToString(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        this.#text = '';
      } else if (byte === COLON) this.#key = this.#text;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#depth === EVENT_DEPTH - 1 && this.#inEvents && byte === OPEN_OBJECT) {
          from = at;
          this.#event = [];
          this.#name = '';
        }
        this.#depth++;
        if (this.#depth === EVENT_DEPTH - 1 && byte === OPEN_ARRAY && this.#key === 'traceEvents') {
          this.#inEvents = true;
          this.#isFirst = true;
          this.#take(bytes.subarray(from, at + 1));
          from = at + 1;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth--;
        if (this.#depth === EVENT_DEPTH - 1 && this.#event !== null) {
          this.#event.push(bytes.subarray(from, at + 1));
          this.#endEvent();
          from = at + 1;
        } else if (this.#depth === EVENT_DEPTH - 2 && this.#inEvents) {
          this.#inEvents = false;
          from = at;
        }
      }
    }
    // Between events are commas alone, which are written anew.
    if (this.#event !== null) this.#event.push(bytes.slice(from));
    else if (!this.#inEvents) this.#take(bytes.subarray(from));
  }

  #addToString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      if (this.#depth === EVENT_DEPTH && this.#key === 'name' && this.#event !== null) {
        this.#name ||= this.#text;
        this.#key = '';
      }
      return;
    }
    const isLooked = this.#depth === 1 || this.#depth === EVENT_DEPTH;
    if (isLooked && this.#text.length <= MAX_NAME_LENGTH) this.#text += String.fromCharCode(byte);
  }

  #endEvent(): void {
    const event = this.#event!;
    this.#event = null;
    if (!EVENT_NAMES.has(this.#name)) return;
    if (!this.#isFirst) this.#take(Uint8Array.of(COMMA));
    this.#isFirst = false;
    for (const piece of event) this.#take(piece);
  }
}
