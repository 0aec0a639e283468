import { PriorityQueue } from '../util/priority-queue.ts';

/** Low-priority requests in flight to servers that do not multiplex (Chromium's `ResourceScheduler`, `kDefaultMaxNumDelayableRequestsPerClient`). */
const MAX_DELAYABLE = 10;
/** A low-priority request waits while this many requests to its host are in flight (`kMaxNumDelayableRequestsPerHostPerClient`). */
const MAX_DELAYABLE_PER_HOST = 6;

interface Waiting<T> {
  urgency: number;
  /** Order of arrival over all hosts. */
  turn: number;
  origin: number;
  request: T;
}

/**
 * Chromium's limit on low-priority requests to servers not known to multiplex: ten in flight in a page, and none to a host
 * with six requests in flight. A request that waits for its host does not hold up requests to other hosts; one that waits
 * for one of the ten holds up all behind it. Once a server is known to multiplex its requests may go, but waiting ones are
 * checked only when some request of the page ends.
 */
export class DelayableLimit<T> {
  readonly #send: (request: T) => void;
  readonly #multiplexes: (origin: number) => boolean;
  /** Requests that wait, by origin; no queue is empty. */
  readonly #waiting = new Map<number, PriorityQueue<Waiting<T>>>();
  /** The first request of each host that its host does not hold up, and stale ones that once were first. */
  readonly #firsts = new PriorityQueue<Waiting<T>>(precedes);
  /** First requests of hosts with too many requests in flight. */
  readonly #parked: Waiting<T>[] = [];
  /** Requests in flight by origin. */
  readonly #toOrigin: number[] = [];
  /** Requests in flight that count against the limit. */
  readonly #delayable = new Set<T>();
  #turns = 0;

  /** @param multiplexes whether the server of an origin, by index, is known to multiplex */
  constructor(send: (request: T) => void, multiplexes: (origin: number) => boolean) {
    this.#send = send;
    this.#multiplexes = multiplexes;
  }

  /**
   * Sends the request now or when its turn comes: by urgency, then in order of arrival.
   *
   * @param urgency 0 (highest) to 7, RFC 9218
   * @param origin index of the request's origin
   * @param low whether it is of low priority; others go at once
   */
  pass(request: T, urgency: number, origin: number, low: boolean): void {
    if (!low || this.#multiplexes(origin)) {
      this.#go(request, origin, false);
      return;
    }
    if (!this.#isFull && !this.#isHostFull(origin)) {
      this.#go(request, origin, true);
      return;
    }
    let queue = this.#waiting.get(origin);
    if (queue === undefined) {
      queue = new PriorityQueue(precedes);
      this.#waiting.set(origin, queue);
    }
    const waiting = { urgency, turn: this.#turns++, origin, request };
    queue.push(waiting);
    if (queue.first === waiting) this.#firsts.push(waiting);
  }

  /** Must be called when a request that was sent has ended. */
  done(request: T, origin: number): void {
    this.#toOrigin[origin]!--;
    this.#delayable.delete(request);
    if (this.#waiting.size > 0) this.#sendWaiting();
  }

  get #isFull(): boolean {
    return this.#delayable.size >= MAX_DELAYABLE;
  }

  #isHostFull(origin: number): boolean {
    return (this.#toOrigin[origin] ?? 0) >= MAX_DELAYABLE_PER_HOST;
  }

  #sendWaiting(): void {
    for (const waiting of this.#parked.splice(0)) {
      const isHeldUp = this.#isHostFull(waiting.origin) && !this.#multiplexes(waiting.origin);
      if (isHeldUp) this.#parked.push(waiting);
      else this.#firsts.push(waiting);
    }
    for (let next = this.#firsts.shift(); next !== undefined; next = this.#firsts.shift()) {
      const { origin, request } = next;
      const queue = this.#waiting.get(origin);
      if (queue?.first !== next) continue;
      const isKnown = this.#multiplexes(origin);
      if (!isKnown && this.#isFull) {
        this.#firsts.push(next);
        return;
      }
      if (!isKnown && this.#isHostFull(origin)) {
        this.#parked.push(next);
        continue;
      }
      queue.shift();
      if (queue.first === undefined) this.#waiting.delete(origin);
      else this.#firsts.push(queue.first);
      this.#go(request, origin, !isKnown);
    }
  }

  #go(request: T, origin: number, counts: boolean): void {
    this.#toOrigin[origin] = (this.#toOrigin[origin] ?? 0) + 1;
    if (counts) this.#delayable.add(request);
    this.#send(request);
  }
}

function precedes<T>(a: Waiting<T>, b: Waiting<T>): boolean {
  return a.urgency < b.urgency || (a.urgency === b.urgency && a.turn < b.turn);
}
