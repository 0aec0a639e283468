import { Readable } from 'node:stream';

/** A readable stream that reports every read of its buffer; `_read` is only called when the buffer runs low. */
export class ResponseBody extends Readable {
  readonly #onTaken: () => void;
  readonly #onDestroy: (fault: Error | null) => void;

  constructor(onTaken: () => void, onDestroy: (fault: Error | null) => void) {
    super();
    this.#onTaken = onTaken;
    this.#onDestroy = onDestroy;
  }

  override read(bytes?: number): unknown {
    const chunk: unknown = super.read(bytes);
    if (chunk !== null) this.#onTaken();
    return chunk;
  }

  override _read(): void {}

  override _destroy(fault: Error | null, done: (fault?: Error | null) => void): void {
    this.#onDestroy(fault);
    done(fault);
  }
}
