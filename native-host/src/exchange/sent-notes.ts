/**
 * Which exchanges the engine was about to send, as a file that host and engine have open: a note survives the engine's crash, and
 * wakes nobody, as one over a pipe would with every request. Each exchange has a place of its own, and writes its number there.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NOTE_BYTES = 4;

/** The host's side. */
export class SentNotes {
  readonly fd: number;
  readonly #free: number[] = [];
  readonly #note = Buffer.alloc(NOTE_BYTES);
  #closed = false;

  /**
   * @param places of as many exchanges as are open at once.
   * @throws Error where the folder of temporary files cannot be written.
   */
  constructor(places: number) {
    const path = join(tmpdir(), `hopwise-sent-${randomUUID()}`);
    this.fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    // All of it, so that the engine finds no full disk.
    const all = Buffer.alloc(places * NOTE_BYTES);
    try {
      const written = writeSync(this.fd, all, 0, all.length, 0);
      if (written < all.length) throw new Error(`no space for the engine's notes in ${tmpdir()}`);
    } catch (fault) {
      closeSync(this.fd);
      throw fault;
    }
    for (let place = places - 1; place >= 0; place -= 1) this.#free.push(place);
  }

  /** @throws Error when there is none. */
  take(): number {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('more exchanges than places for their notes');
    return place;
  }

  giveBack(place: number): void {
    this.#free.push(place);
  }

  /** Whether the exchange is noted at its place. What another one noted there before is not its own. */
  has(place: number, exchange: number): boolean {
    if (this.#closed) return false;
    readSync(this.fd, this.#note, 0, NOTE_BYTES, place * NOTE_BYTES);
    return this.#note.readUInt32LE() === exchange;
  }

  close(): void {
    if (!this.#closed) closeSync(this.fd);
    this.#closed = true;
  }
}

/** @returns what notes an exchange at its place, on the engine's side. */
export function noteWriter(fd: number): (place: number, exchange: number) => void {
  const note = Buffer.alloc(NOTE_BYTES);
  return (place, exchange) => {
    note.writeUInt32LE(exchange);
    writeSync(fd, note, 0, NOTE_BYTES, place * NOTE_BYTES);
  };
}
