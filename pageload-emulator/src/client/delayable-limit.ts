import { PriorityQueue } from '../util/priority-queue.ts';

/** Requests of low priority that Chromium has under way to servers that do not multiplex (its `ResourceScheduler`, `kDefaultMaxNumDelayableRequestsPerClient`). */
export const MAX_DELAYABLE = 10;
/** While so many requests to one host are under way, no further one of low priority goes there (`kMaxNumDelayableRequestsPerHostPerClient`). */
export const MAX_DELAYABLE_PER_HOST = 6;

interface Waiting<T> {
  urgency: number;
  /** In order of asking, over all hosts. */
  turn: number;
  origin: number;
  request: T;
}

/**
 * Chromium's limit on requests of low priority to servers of which it does not know that they multiplex: ten at a time
 * in a page, and none to a host with six under way. What waits for its host holds up nothing that goes elsewhere; what
 * waits for one of the ten holds up all behind it. Knowing that a server multiplexes lets its requests go, but those that wait
 * are looked at only when some request of the page ends.
 */
export class DelayableLimit<T> {
  readonly #send: (request: T) => void;
  readonly #multiplexes: (origin: number) => boolean;
  /** By origin; none is empty. */
  readonly #waiting = new Map<number, PriorityQueue<Waiting<T>>>();
  /** The first of each host that is not held up by its own, and some that were it. */
  readonly #firsts = new PriorityQueue<Waiting<T>>(precedes);
  /** Those whose hosts had too many under way. */
  readonly #parked: Waiting<T>[] = [];
  /** Under way, by origin. */
  readonly #toOrigin: number[] = [];
  /** Those under way that count against the limit. */
  readonly #delayable = new Set<T>();
  #turns = 0;

  /** @param multiplexes whether the browser knows of an origin's server, by its index, that it multiplexes */
  constructor(send: (request: T) => void, multiplexes: (origin: number) => boolean) {
    this.#send = send;
    this.#multiplexes = multiplexes;
  }

  /**
   * Sends the request now or when its turn comes: by urgency, then in order of asking.
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

  /** A request that has passed has ended. */
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
