/** Requests of low priority that Chromium has under way on connections that carry one at a time (its `ResourceScheduler`, `kDefaultMaxNumDelayableRequestsPerClient`). */
export const MOST_DELAYABLE = 10;
/** Of them to one host (`kMaxNumDelayableRequestsPerHostPerClient`). */
export const MOST_DELAYABLE_PER_HOST = 6;

interface Waiting<T> {
  urgency: number;
  /** Index of the request's origin. */
  origin: number;
  request: T;
}

/**
 * Chromium's limit on requests of low priority to servers that do not multiplex: ten at a time in a page, six
 * of them to one host. What waits for its host holds up nothing that goes elsewhere. Requests to HTTP/2 and HTTP/3
 * servers go at once.
 */
export class DelayableLimit<T> {
  readonly #send: (request: T) => void;
  readonly #waiting: Waiting<T>[] = [];
  /** By origin. */
  readonly #toOrigin: number[] = [];
  #underway = 0;

  constructor(send: (request: T) => void) {
    this.#send = send;
  }

  /** Sends the request now or when its turn comes: by urgency, then in order of asking. */
  pass(request: T, urgency: number, origin: number): void {
    if (this.#mayGo(origin)) {
      this.#go(request, origin);
      return;
    }
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]!.urgency > urgency) at--;
    this.#waiting.splice(at, 0, { urgency, origin, request });
  }

  /** A request that has passed has ended. */
  done(origin: number): void {
    this.#underway--;
    this.#toOrigin[origin]!--;
    const at = this.#waiting.findIndex((waiting) => this.#mayGo(waiting.origin));
    if (at < 0) return;
    const [next] = this.#waiting.splice(at, 1) as [Waiting<T>];
    this.#go(next.request, next.origin);
  }

  #mayGo(origin: number): boolean {
    return this.#underway < MOST_DELAYABLE && (this.#toOrigin[origin] ?? 0) < MOST_DELAYABLE_PER_HOST;
  }

  #go(request: T, origin: number): void {
    this.#underway++;
    this.#toOrigin[origin] = (this.#toOrigin[origin] ?? 0) + 1;
    this.#send(request);
  }
}
