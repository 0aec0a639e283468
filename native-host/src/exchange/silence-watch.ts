/**
 * How long the server of an HTTP/3 connection may send nothing after a request, milliseconds: a server acknowledges what it gets, even
 * when its response takes long. Longer than two probe timeouts on a path of 100 ms (RFC 9002 section 6.2.1: 3 round trips and
 * 25 ms each), so that one lost packet means nothing, and than a round trip by geostationary satellite (600 ms).
 */
const SILENT_AFTER_MS = 700;

/** Notices that nothing at all comes back after a request. */
export class SilenceWatch {
  readonly #onSilent: () => void;
  /** Before the time begins: packets that had arrived when the request was sent answer nothing, and are read first. */
  #begin: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** At the end of the time: on a busy machine packets may have arrived that this process has not read yet. */
  #check: NodeJS.Immediate | null = null;

  constructor(onSilent: () => void) {
    this.#onSilent = onSilent;
  }

  /** To be called when a request has been sent. */
  onSent(): void {
    if (this.#timer) return;
    this.#begin ??= setImmediate(() => {
      this.#begin = null;
      this.#timer = setTimeout(() => {
        this.#check = setImmediate(this.#onSilent);
      }, SILENT_AFTER_MS);
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
