import { MAX_KEPT, refuseMoreValues, tooLarge } from './json-limits.ts';

const FIRST_BYTES = 256 * 1024;

/** How much was kept at some time. */
export interface Mark {
  length: number;
  values: number;
  containers: number;
}

/** What is kept of a JSON text: bytes, and what counts for the limits in them. */
export class KeptJson {
  bytes = new Uint8Array(FIRST_BYTES);
  length = 0;
  values = 0;
  containers = 0;

  /** Makes room for `count` more bytes, at most as many as a new `KeptJson` has room for. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.min(MAX_KEPT.bytes + count, 2 * this.bytes.length));
    larger.set(this.bytes);
    this.release();
    this.bytes = larger;
  }

  add(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  mark(): Mark {
    return { length: this.length, values: this.values, containers: this.containers };
  }

  /** Takes back what was kept since `mark`. */
  takeBack({ length, values, containers }: Mark): void {
    this.length = length;
    this.values = values;
    this.containers = containers;
  }

  /** @throws InputError when it is more than a recording may have */
  refuseMore(): void {
    if (this.length > MAX_KEPT.bytes)
      throw tooLarge(`${MAX_KEPT.bytes / 1024 / 1024} MiB of JSON without bodies`);
    refuseMoreValues(this.values, this.containers);
  }

  /** Gives the memory back at once. Parsing takes much: bytes should not wait for the next collection. */
  release(): void {
    // Node 20 lacks `transfer`.
    const buffer: ArrayBuffer & { transfer?: (bytes: number) => ArrayBuffer } = this.bytes.buffer;
    buffer.transfer?.(0);
  }
}
