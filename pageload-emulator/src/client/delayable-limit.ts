import { PriorityQueue } from '../priority-queue.ts';

/** Requests of low priority that Chromium has under way on connections that carry one at a time (its `ResourceScheduler`, `kDefaultMaxNumDelayableRequestsPerClient`). */
export const MOST_DELAYABLE = 10;
/** Of them to one host (`kMaxNumDelayableRequestsPerHostPerClient`). */
export const MOST_DELAYABLE_PER_HOST = 6;

interface Waiting<T> {
  urgency: number;
  /** In order of asking, over all hosts. */
  turn: number;
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
  /** By origin; none is empty. */
  readonly #waiting = new Map<number, PriorityQueue<Waiting<T>>>();
  /** The first of each host, and some that were it. */
  readonly #firsts = new PriorityQueue<Waiting<T>>(precedes);
  /** By origin. */
  readonly #toOrigin: number[] = [];
  #underway = 0;
  #turns = 0;

  constructor(send: (request: T) => void) {
    this.#send = send;
  }

  /**
   * Sends the request now or when its turn comes: by urgency, then in order of asking.
   *
   * @param urgency 0 (highest) to 7, RFC 9218
   * @param origin index of the request's origin
   */
  pass(request: T, urgency: number, origin: number): void {
    if (this.#mayGo(origin)) {
      this.#go(request, origin);
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
  done(origin: number): void {
    this.#underway--;
    this.#toOrigin[origin]!--;
    const next = this.#next();
    if (next === null) return;
    const { origin: to, request } = next;
    const queue = this.#waiting.get(to)!;
    queue.shift();
    if (queue.first === undefined) this.#waiting.delete(to);
    else this.#firsts.push(queue.first);
    this.#go(request, to);
  }

  /** Of those whose host has room, the first. */
  #next(): Waiting<T> | null {
    // No two hosts have six of ten.
    let held: Waiting<T> | null = null;
    let next = this.#firsts.shift() ?? null;
    while (next !== null) {
      const isFirst = this.#waiting.get(next.origin)?.first === next;
      if (isFirst && this.#mayGo(next.origin)) break;
      if (isFirst) held = next;
      next = this.#firsts.shift() ?? null;
    }
    if (held !== null) this.#firsts.push(held);
    return next;
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

function precedes<T>(a: Waiting<T>, b: Waiting<T>): boolean {
  return a.urgency < b.urgency || (a.urgency === b.urgency && a.turn < b.turn);
}
