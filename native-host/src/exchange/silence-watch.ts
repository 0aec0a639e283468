/** Notices that nothing at all comes back after something was sent over QUIC. */
export class SilenceWatch {
  readonly #onSilent: () => void;
  /** How long nothing may come back, milliseconds. */
  readonly #limitMs: () => number;
  /** Before the time begins: packets that had arrived when the request was sent answer nothing, and are read first. */
  #begin: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** At the end of the time: on a busy machine packets may have arrived that this process has not read yet. */
  #check: NodeJS.Immediate | null = null;

  constructor(limitMs: () => number, onSilent: () => void) {
    this.#limitMs = limitMs;
    this.#onSilent = onSilent;
  }

  /** To be called when a request, or the first packet of a connection, is sent. */
  onSent(): void {
    if (this.#timer) return;
    this.#begin ??= setImmediate(() => {
      this.#begin = null;
      this.#timer = setTimeout(() => {
        this.#check = setImmediate(this.#onSilent);
      }, this.#limitMs());
    });
  }

  /** To be called when anything has arrived. */
  onReceived(): void {
    if (!this.#begin) this.stop();
  }

  /** To be called when nothing is awaited any more. */
  stop(): void {
    if (this.#begin) clearImmediate(this.#begin);
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#check) clearImmediate(this.#check);
    this.#begin = null;
    this.#timer = null;
    this.#check = null;
  }
}
