import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-characters.ts';

/** Depth of events: in an array of the outermost object. */
const EVENT_DEPTH = 3;
/** Longer strings are neither names of events nor of fields that are looked at. */
const MAX_NAME_LENGTH = 40;

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** A list of events in a file, and which of them are read. */
interface EventList {
  /** The field of the outermost object that has the list. */
  list: string;
  /** The field of an event, a string or a whole number, that says what kind it is. */
  kindField: string;
  /**
   * What is kept in an event's place, by its kind and the pieces of its JSON: the event, nothing, or others before it. Events are pieces of
   * JSON, without commas around them.
   */
  keep: (kind: string, event: readonly Uint8Array[]) => readonly (readonly Uint8Array[])[];
  /** Further events at the end of the list. */
  more?: () => readonly (readonly Uint8Array[])[];
}

/**
 * Leaves out of a file, which comes piece by piece, all events but those that are read: a Chrome trace of some seconds has a hundred
 * thousand others.
 */
export class EventBytes {
  readonly #events: EventList;
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
  #kind = '';
  /** Whether the value of the field that has the current event's kind is next, or is being read. */
  #inKind = false;
  #isFirst = true;

  /** @param take gets what is kept of the file's JSON, in pieces */
  constructor(events: EventList, take: (bytes: Uint8Array) => void) {
    this.#events = events;
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
      } else if (byte === COLON) this.#endKey();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#depth === EVENT_DEPTH - 1 && this.#inEvents && byte === OPEN_OBJECT) {
          from = at;
          this.#event = [];
          this.#kind = '';
        }
        this.#inKind = false;
        this.#depth++;
        if (this.#depth === EVENT_DEPTH - 1 && byte === OPEN_ARRAY && this.#key === this.#events.list) {
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
          this.#endList();
          from = at;
        }
      } else if (byte === COMMA) this.#inKind = false;
      else if (this.#inKind && byte >= DIGIT_0 && byte <= DIGIT_9) this.#kind += String.fromCharCode(byte);
    }
    // Between events are commas alone, which are written anew.
    if (this.#event !== null) this.#event.push(bytes.slice(from));
    else if (!this.#inEvents) this.#take(bytes.subarray(from));
  }

  /** Ends the list of events, and the file's outermost object, where the file does not: what wrote it was killed. */
  end(): void {
    if (!this.#inEvents) return;
    this.#endList();
    this.#take(Uint8Array.of(CLOSE_ARRAY, CLOSE_OBJECT));
  }

  #addToString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      if (this.#inKind) {
        this.#kind = this.#text;
        this.#inKind = false;
      }
      return;
    }
    const isLooked = this.#depth === 1 || this.#depth === EVENT_DEPTH;
    if (isLooked && this.#text.length <= MAX_NAME_LENGTH) this.#text += String.fromCharCode(byte);
  }

  #endKey(): void {
    this.#key = this.#text;
    const isInEvent = this.#depth === EVENT_DEPTH && this.#event !== null;
    this.#inKind = isInEvent && this.#kind === '' && this.#key === this.#events.kindField;
  }

  #endEvent(): void {
    const event = this.#event!;
    this.#event = null;
    for (const kept of this.#events.keep(this.#kind, event)) this.#write(kept);
  }

  #endList(): void {
    this.#inEvents = false;
    for (const event of this.#events.more?.() ?? []) this.#write(event);
  }

  #write(event: readonly Uint8Array[]): void {
    if (!this.#isFirst) this.#take(Uint8Array.of(COMMA));
    this.#isFirst = false;
    for (const piece of event) this.#take(piece);
  }
}
