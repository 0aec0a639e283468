/**
 * Marks of the exchanges that the engine was about to send, in a file that host and engine share: a mark survives the engine's
 * crash and, unlike a message through the pipe, costs no wake-up per request. Each open exchange has a slot, and its id is
 * written there.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MARK_BYTES = 4;

/** The host's side. */
export class SentMarks {
  readonly fd: number;
  readonly #freeSlots: number[] = [];
  readonly #mark = Buffer.alloc(MARK_BYTES);
  #closed = false;

  /**
   * @param slots maximum number of open exchanges.
   * @throws Error when the folder of temporary files cannot be written.
   */
  constructor(slots: number) {
    const path = join(tmpdir(), `hopwise-sent-${randomUUID()}`);
    this.fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    // Allocated at once, so that the engine never meets a full disk.
    const all = Buffer.alloc(slots * MARK_BYTES);
    try {
      const written = writeSync(this.fd, all, 0, all.length, 0);
      if (written < all.length) throw new Error(`no space for the engine's marks in ${tmpdir()}`);
    } catch (fault) {
      closeSync(this.fd);
      throw fault;
    }
    for (let slot = slots - 1; slot >= 0; slot -= 1) this.#freeSlots.push(slot);
  }

  /** @throws Error when no slot is free. */
  take(): number {
    const slot = this.#freeSlots.pop();
    if (slot === undefined) throw new Error('more exchanges than slots for their marks');
    return slot;
  }

  giveBack(slot: number): void {
    this.#freeSlots.push(slot);
  }

  /** Whether the slot holds the exchange's mark; a previous exchange's mark does not count. */
  has(slot: number, exchange: number): boolean {
    if (this.#closed) return false;
    readSync(this.fd, this.#mark, 0, MARK_BYTES, slot * MARK_BYTES);
    return this.#mark.readUInt32LE() === exchange;
  }

  close(): void {
    if (!this.#closed) closeSync(this.fd);
    this.#closed = true;
  }
}

/** The engine's side. @returns a function that marks an exchange as sent. */
export function markWriter(fd: number): (slot: number, exchange: number) => void {
  const mark = Buffer.alloc(MARK_BYTES);
  return (slot, exchange) => {
    mark.writeUInt32LE(exchange);
    writeSync(fd, mark, 0, MARK_BYTES, slot * MARK_BYTES);
  };
}
