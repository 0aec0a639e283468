/**
 * When a socket is polled for writing again after writable events that were of no use. While an upload waits for the flow-control window
 * of its whole connection, libcurl 8.14 asks for such events without end, and a socket with room reports them without end.
 */

/** Useless events in a row before the first delay: what libcurl has buffered may go out without being counted. */
const USELESS_LIMIT = 8;

/** The last delay. What opens a window is readable, and ends any delay at once. */
const MAX_DELAY_MS = 128;

export class WriteBackoff {
  readonly #onOver: () => void;
  #useless = 0;
  #uploadedBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param onOver called when a delay has passed */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Whether the socket is not to be polled for writing now. */
  get isDelaying(): boolean {
    return this.#timer !== null;
  }

  /**
   * Counts a writable event that libcurl has processed.
   *
   * @param uploadedBytes by libcurl's count, of all requests on the socket
   */
  onWritable(uploadedBytes: number): void {
    if (uploadedBytes !== this.#uploadedBytes) this.#useless = 0;
    this.#uploadedBytes = uploadedBytes;
    this.#useless += 1;
    if (this.#useless < USELESS_LIMIT || this.#timer) return;
    const delayMs = Math.min(MAX_DELAY_MS, 2 ** (this.#useless - USELESS_LIMIT));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#onOver();
    }, delayMs);
  }

  /** Ends the delay, as something has arrived that may open a window: one useless event more begins the shortest one. */
  restart(): void {
    this.stop();
    this.#useless = Math.min(this.#useless, USELESS_LIMIT - 1);
  }

  /** Ends the delay. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
