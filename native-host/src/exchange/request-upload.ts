/** Request bytes that libcurl has not taken, and those that it may ask for again. */
export class UploadQueue {
  #pieces: Buffer[] = [];
  /** What has been taken so far, for a repeated request; null once that was too much to keep. */
  #taken: Buffer[] | null = [];
  #takenBytes = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  /**
   * Takes up to `room` bytes from the front.
   *
   * @param copy called with each piece and its offset among those bytes.
   * @returns the number of bytes taken.
   */
  take(room: number, copy: (piece: Buffer, at: number) => void): number {
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
    return bytes;
  }

  /** Puts back what was taken. @returns the number of bytes; null when they were not kept. */
  rewind(): number | null {
    if (!this.#taken) return null;
    const bytes = this.#takenBytes;
    this.#pieces.unshift(...this.#taken);
    this.#taken = [];
    this.#takenBytes = 0;
    return bytes;
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
}

/** What libcurl takes at once before the header goes out (default of `CURLOPT_UPLOAD_BUFFERSIZE`). */
const MAX_REMEMBERED_BYTES = 64 * 1024;
