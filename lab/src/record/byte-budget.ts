/** Remaining bytes that recorded bodies may take. */
export class RecordByteBudget {
  left: number;

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** Returns `body` and deducts its size, or returns null where it does not fit. */
  take<B extends Uint8Array>(body: B | null): B | null {
    if (body === null || body.length > this.left) return null;
    this.left -= body.length;
    return body;
  }
}
