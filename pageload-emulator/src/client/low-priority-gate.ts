/** Requests of low priority that Chromium has under way while the parser is in the document's head (Blink's `kTightLimitForRendererSideResourceScheduler`). */
export const LOW_PRIORITY_LIMIT = 2;

/**
 * How a request of low priority waits for the end of the head: in turns with others, two at a time, or
 * until then, as those do that came after the images which Blink prefers.
 */
export type Hold = 'turns' | 'head';

/**
 * Blink's tight mode: while the document's head is being parsed, two requests of low priority at a time
 * leave the renderer; then all of them do.
 */
export class LowPriorityGate<T> {
  readonly #send: (request: T) => void;
  readonly #turns: T[] = [];
  readonly #held: T[] = [];
  #underway = 0;
  #open = false;

  constructor(send: (request: T) => void) {
    this.#send = send;
  }

  /** Sends the request now or when it may go. */
  pass(request: T, hold: Hold): void {
    if (this.#open) {
      this.#send(request);
    } else if (hold === 'head') {
      this.#held.push(request);
    } else if (this.#underway < LOW_PRIORITY_LIMIT) {
      this.#underway++;
      this.#send(request);
    } else {
      this.#turns.push(request);
    }
  }

  /** A request that took its turn has ended. */
  done(hold: Hold): void {
    if (hold === 'head' || this.#open) return;
    const next = this.#turns.shift();
    if (next === undefined) this.#underway--;
    else this.#send(next);
  }

  /** The head has ended. */
  open(): void {
    this.#open = true;
    for (const request of [...this.#turns.splice(0), ...this.#held.splice(0)]) this.#send(request);
  }
}
