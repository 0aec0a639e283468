/** Request bytes on their way to libcurl. */
export class UploadQueue {
  #pieces: Buffer[] = [];
  /** What has been taken so far, to be taken again; null once that was too much to keep. */
  #taken: Buffer[] | null = [];
  #takenBytes = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  /**
   * Takes up to `room` bytes, from the front.
   *
   * @param copy is handed each piece with its place among those bytes.
   * @returns how many there were.
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

  /** Puts back what was taken; null when it is no longer there, else how many bytes. */
  rewind(): number | null {
    if (!this.#taken) return null;
    const bytes = this.#takenBytes;
    this.#pieces.unshift(...this.#taken);
    this.#taken = [];
    this.#takenBytes = 0;
    return bytes;
  }

  /** Nothing will be taken again. */
  forget(): void {
    this.#taken = null;
  }

  #remember(part: Buffer): void {
    if (!this.#taken) return;
    this.#takenBytes += part.length;
    if (this.#takenBytes > REMEMBERED_BYTES) this.forget();
    else this.#taken.push(part);
  }
}

/** What libcurl takes at once before the header goes out (`CURLOPT_UPLOAD_BUFFERSIZE`). */
const REMEMBERED_BYTES = 64 * 1024;
