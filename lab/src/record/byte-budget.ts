/** What bodies may still take. */
export class ByteBudget {
  left: number;

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** `body` where there is room for it, which is then taken; null else. */
  take<B extends Uint8Array>(body: B | null): B | null {
    if (body === null || body.length > this.left) return null;
    this.left -= body.length;
    return body;
  }
}
