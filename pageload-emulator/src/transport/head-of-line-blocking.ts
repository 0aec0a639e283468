/** A run of bytes that may wait in a `ByteOrder`: its place in the order, and a link to the one behind it. */
interface OrderedRun<Run> {
  offset: number;
  next: Run | null;
}

/**
 * Head-of-line blocking: bytes are handed up in the order in which they were first sent, and what arrives behind a gap waits
 * here for the repair. Over TCP the order is the connection's, so one lost packet holds up the responses of all HTTP/2
 * streams; over QUIC each stream has an order of its own (RFC 9000 section 2.2), so HTTP/3 holds up only the stream that
 * lost the packet.
 */
export class ByteOrder<Run extends OrderedRun<Run>> {
  /** Bytes sent for the first time. */
  sent = 0;
  /** Bytes handed up. */
  delivered = 0;
  /** Runs behind the gap, by offset. */
  #held: Run | null = null;
  #lastHeld: Run | null = null;

  /** Whether a run waits. */
  get holds(): boolean {
    return this.#held !== null;
  }

  /** Keeps a run that arrived behind a gap. */
  hold(run: Run): void {
    let before: Run | null = null;
    if (this.#held !== null && this.#lastHeld!.offset < run.offset) {
      before = this.#lastHeld;
    } else {
      let next = this.#held;
      while (next !== null && next.offset < run.offset) {
        before = next;
        next = next.next;
      }
    }
    run.next = before === null ? this.#held : before.next;
    if (before === null) this.#held = run;
    else before.next = run;
    if (run.next === null) this.#lastHeld = run;
  }

  /** Takes the next held run when no gap is before it any more; else null. */
  release(): Run | null {
    const run = this.#held;
    if (run === null || run.offset !== this.delivered) return null;
    this.#held = run.next;
    return run;
  }
}
