/** The body of a request on the engine's side, between the host, which sends no more than it was granted, and libcurl. */
import type { CreditAccount } from './credit-pool.ts';

/** What libcurl takes at once before the header goes out (default of `CURLOPT_UPLOAD_BUFFERSIZE`). */
const MAX_REMEMBERED_BYTES = 64 * 1024;

export class RequestUpload {
  readonly #account: CreditAccount;
  readonly #onGranted: (bytes: number) => void;
  /** Bytes that libcurl has not taken. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** Bytes that libcurl has taken, for a repeated request; null once they are too many to keep. */
  #taken: Buffer[] | null = [];
  #takenBytes = 0;
  /** Bytes granted that libcurl has not taken, whether they have arrived or not. */
  #grantedBytes = 0;
  #isEnded: boolean;

  constructor(account: CreditAccount, hasBody: boolean, onGranted: (bytes: number) => void) {
    this.#account = account;
    this.#isEnded = !hasBody;
    this.#onGranted = onGranted;
  }

  /** Allows the host to send as much as there is room for. */
  grant(): void {
    const bytes = this.#isEnded ? 0 : this.#account.grant(this.#grantedBytes);
    if (bytes === 0) return;
    this.#grantedBytes += bytes;
    this.#onGranted(bytes);
  }

  /** @returns false for more than was granted. */
  push(piece: Buffer): boolean {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    return this.#pieceBytes <= this.#grantedBytes;
  }

  end(): void {
    this.#isEnded = true;
  }

  /**
   * Takes up to `room` bytes from the front.
   *
   * @param copy called with each piece and its offset among those bytes.
   * @returns the number of bytes, 0 at the end of the body; null while none have arrived.
   */
  take(room: number, copy: (piece: Buffer, at: number) => void): number | null {
    let bytes = 0;
    while (bytes < room && this.#pieces.length > 0) {
      const piece = this.#pieces[0]!;
      const part = piece.subarray(0, room - bytes);
      copy(part, bytes);
      bytes += part.length;
      if (part.length === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(part.length);
      this.#remember(part);
    }
    if (bytes === 0 && !this.#isEnded) return null;
    this.#grantedBytes -= bytes;
    this.#pieceBytes -= bytes;
    this.grant();
    return bytes;
  }

  /** Has the body start again. @returns whether all of it is still there. */
  rewind(): boolean {
    if (!this.#taken) return false;
    this.#pieces.unshift(...this.#taken);
    this.#pieceBytes += this.#takenBytes;
    this.#grantedBytes += this.#takenBytes;
    this.#taken = [];
    this.#takenBytes = 0;
    return true;
  }

  /** Drops what was kept for a repeated request. */
  forget(): void {
    this.#taken = null;
  }

  #remember(part: Buffer): void {
    if (!this.#taken) return;
    this.#takenBytes += part.length;
    if (this.#takenBytes > MAX_REMEMBERED_BYTES) this.forget();
    else this.#taken.push(part);
  }

  close(): void {
    this.#account.close();
  }
}
