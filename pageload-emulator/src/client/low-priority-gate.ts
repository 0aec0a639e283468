/** Low-priority requests in flight while the parser is in the document's head (Blink's `kTightLimitForRendererSideResourceScheduler`). */
export const LOW_PRIORITY_LIMIT = 2;

/**
 * How a low-priority request is held back until the head ends: `turns`, two at a time with others, or `head`, until then, as
 * requests are that come after the images which Blink prefers.
 */
export type Hold = 'turns' | 'head';

/**
 * Blink's tight mode: while the document's head is being parsed, two low-priority requests at a time leave the renderer;
 * after it, all of them do.
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

  /** Must be called when a request that was sent has ended. */
  done(hold: Hold): void {
    if (hold === 'head' || this.#open) return;
    const next = this.#turns.shift();
    if (next === undefined) this.#underway--;
    else this.#send(next);
  }

  /** Sends all waiting requests: the head has ended. */
  open(): void {
    this.#open = true;
    for (const request of [...this.#turns.splice(0), ...this.#held.splice(0)]) this.#send(request);
  }
}
