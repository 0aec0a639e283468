/** Requests of low priority that Chromium has under way while the parser is in the document's head (Blink's `kTightLimitForRendererSideResourceScheduler`). */
export const LOW_PRIORITY_LIMIT = 2;

interface Waiting<T> {
  urgency: number;
  request: T;
}

/**
 * Blink's tight mode: while the document's head is being parsed, two requests of low priority at a time
 * leave the renderer; then all of them do.
 */
export class LowPriorityGate<T> {
  readonly #send: (request: T) => void;
  readonly #waiting: Waiting<T>[] = [];
  #underway = 0;
  #open: boolean;

  /** @param open whether nothing is held back, as for a page without a blocking head */
  constructor(open: boolean, send: (request: T) => void) {
    this.#open = open;
    this.#send = send;
  }

  /** Sends the request now or when its turn comes: by urgency, then in order of asking. */
  pass(request: T, urgency: number): void {
    if (this.#open || this.#underway < LOW_PRIORITY_LIMIT) {
      this.#underway++;
      this.#send(request);
      return;
    }
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]!.urgency > urgency) at--;
    this.#waiting.splice(at, 0, { urgency, request });
  }

  /** A request that has passed has ended. */
  done(): void {
    this.#underway--;
    const next = this.#open ? undefined : this.#waiting.shift();
    if (next === undefined) return;
    this.#underway++;
    this.#send(next.request);
  }

  /** The head has ended. */
  open(): void {
    this.#open = true;
    for (const { request } of this.#waiting.splice(0)) this.#send(request);
  }
}
