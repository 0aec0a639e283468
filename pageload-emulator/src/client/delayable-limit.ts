/** Requests of low priority that Chromium has under way on connections that carry one at a time (its `ResourceScheduler`, `kDefaultMaxNumDelayableRequestsPerClient`). */
export const MOST_DELAYABLE = 10;

interface Waiting<T> {
  urgency: number;
  request: T;
}

/**
 * Chromium's limit on requests of low priority to servers that do not multiplex: ten at a time in a
 * page, whatever their origins. Those to HTTP/2 and HTTP/3 servers go at once.
 */
export class DelayableLimit<T> {
  readonly #send: (request: T) => void;
  readonly #waiting: Waiting<T>[] = [];
  #underway = 0;

  constructor(send: (request: T) => void) {
    this.#send = send;
  }

  /** Sends the request now or when its turn comes: by urgency, then in order of asking. */
  pass(request: T, urgency: number): void {
    if (this.#underway < MOST_DELAYABLE) {
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
    const next = this.#waiting.shift();
    if (next === undefined) this.#underway--;
    else this.#send(next.request);
  }
}
