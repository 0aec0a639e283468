import { Unzlib } from 'fflate';
import { InputError } from '../util/input-error.ts';
import { EventBytes } from './json/event-bytes.ts';
import { JsonBytes } from './json/json-bytes.ts';
import { NetLogBytes } from './netlog/netlog-bytes.ts';
import { otherFile } from './other-files.ts';
import { EVENT_NAMES } from './trace/trace-events.ts';
import { Utf16ToUtf8 } from './utf16.ts';
import { ZippedHar } from './zipped-har.ts';

/** Bytes that are unpacked at once: deflate makes a thousand times as many of them. */
const PIECE = 16 * 1024;
/** Bytes that tell what a file is packed in: a block of tar is the longest. */
const HEAD_BYTES = 512;
/** How files of Chrome's Performance panel begin. */
const TRACE = /^\s*\{\s*"(traceEvents|metadata)"\s*:/;
/** How NetLogs begin. */
const NETLOG = /^\s*\{\s*"constants"\s*:/;

/**
 * Collects a recording's file piece by piece, whatever its JSON is packed in: UTF-8 or UTF-16, zlib (mitmproxy's
 * `.zhar`), or a HAR in a zip file. What is not read of
 * it, such as bodies, is not kept.
 */
export class RecordingBytes {
  readonly #json = new JsonBytes();
  #head: Uint8Array | null = new Uint8Array(0);
  #add: (bytes: Uint8Array) => void = (bytes) => this.#json.add(bytes);
  /** What ends with the file, before the JSON that it gave. */
  #unpacked: { end: () => void } | null = null;

  /**
   * Adds the next bytes of the file; those that are kept are copied.
   *
   * @throws InputError when they exceed what any recording needs, or cannot be unpacked
   */
  add(bytes: Uint8Array): void {
    if (this.#head === null) {
      this.#add(bytes);
      return;
    }
    const head = new Uint8Array(this.#head.length + bytes.length);
    head.set(this.#head);
    head.set(bytes, this.#head.length);
    this.#head = head;
    if (head.length >= HEAD_BYTES) this.#begin(head);
  }

  /**
   * Passes the kept bytes, JSON in UTF-8 if that was in the file, to `decode` and releases them. Nothing can be added afterwards.
   *
   * @returns what `decode` returned
   * @throws InputError when a zip file is not whole, or has no HAR
   */
  end(decode: (kept: Uint8Array) => string): string {
    if (this.#head !== null) this.#begin(this.#head);
    this.#unpacked?.end();
    return this.#json.end(decode);
  }

  #begin(head: Uint8Array): void {
    this.#head = null;
    const other = otherFile(head.subarray(0, HEAD_BYTES));
    if (other !== null) throw new InputError(`top level: expected a HAR, got ${other}`);
    const beginning = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
    const [a, b, c, d] = head;
    const isLittle = (a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && c !== 0 && d === 0);
    const isBig = (a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0 && d !== 0);
    // PKZIP's application note, sections 4.3.7 and 4.3.16: "PK", then what begins a file, or ends an archive without any.
    if (a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))) {
      const zip = new ZippedHar((bytes) => this.#json.add(bytes));
      this.#unpacked = zip;
      this.#add = inPieces((bytes) => zip.add(bytes));
    } else if (isZlib(head)) {
      this.#add = inPieces(inflating((bytes) => this.#json.add(bytes)));
    } else if (TRACE.test(beginning)) {
      const keep = (name: string, event: readonly Uint8Array[]) => (EVENT_NAMES.has(name) ? [event] : []);
      const trace = new EventBytes({ list: 'traceEvents', kindField: 'name', keep }, (bytes) =>
        this.#json.add(bytes),
      );
      this.#addEvents(trace);
    } else if (NETLOG.test(beginning)) {
      const log = new NetLogBytes((bytes) => this.#json.add(bytes));
      this.#unpacked = log;
      this.#addEvents(log);
    } else if (isLittle || isBig) {
      const utf16 = new Utf16ToUtf8(isBig);
      this.#add = inPieces((bytes) => this.#json.add(utf16.convert(bytes)));
    }
    this.#add(head);
  }

  /** Adds the file to what takes out its events; what is left out counts as well. */
  #addEvents(events: { add: (bytes: Uint8Array) => void }): void {
    this.#add = inPieces((bytes) => {
      this.#json.count(bytes.length);
      events.add(bytes);
    });
  }
}

/** RFC 1950 section 2.2: deflate, and a check of the first two bytes. No JSON begins so. */
function isZlib([method, flags]: Uint8Array): boolean {
  return method === 0x78 && flags !== undefined && ((method << 8) | flags) % 31 === 0;
}

function inflating(take: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
  const inflate = new Unzlib(take);
  return (bytes) => {
    try {
      inflate.push(bytes);
    } catch (error) {
      if (error instanceof InputError) throw error;
      throw new InputError(`top level: expected zlib data, got ${(error as Error).message}`);
    }
  };
}

function inPieces(add: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
  return (bytes) => {
    for (let from = 0; from < bytes.length; from += PIECE) add(bytes.subarray(from, from + PIECE));
  };
}
