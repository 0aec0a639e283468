/** Handles events. `kind` and `payload` are what the handler scheduled them with. */
export interface EventHandler {
  handle(kind: number, payload: unknown): void;
}

/** Stands for no event among event indices. */
const NONE = -1;

/**
 * A queue for events that are scheduled in order of their time, such as departures from a first-in, first-out server. A list
 * costs less than the heap.
 */
export type Lane = number;

/** An event of a handler class with few events. */
interface RareEvent {
  handler: EventHandler;
  payload: unknown;
}

const RARE_HANDLER: EventHandler = {
  handle(kind, event) {
    const { handler, payload } = event as RareEvent;
    handler.handle(kind, payload);
  },
};

/**
 * The discrete-event clock: events are handled by time, then by order of scheduling, so that runs are deterministic. Times are
 * milliseconds after navigationStart.
 *
 * An event is an index into columns. A binary heap holds the indices of events scheduled in any order, a lane those of events
 * scheduled in order of time.
 */
export class EventQueue {
  now = 0;
  // Columns, one entry for each event; `#next` links lanes and the list of unused indices.
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #handlers: EventHandler[] = [];
  readonly #kinds: number[] = [];
  readonly #payloads: unknown[] = [];
  readonly #next: number[] = [];
  #unused = NONE;
  #scheduled = 0;
  /** Times of the heap's events, repeated so that comparisons stay in one array. The first is infinite when the heap is empty. */
  readonly #heapTimes: number[] = [Number.POSITIVE_INFINITY];
  readonly #heap: number[] = [NONE];
  #size = 0;
  // The first and last event of each lane, and their times; the first time is infinite when the lane is empty.
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];
  readonly #firstTimes: number[] = [];
  readonly #lastTimes: number[] = [];

  /** Creates a lane, for the events of one first-in, first-out server. */
  createLane(): Lane {
    this.#firsts.push(NONE);
    this.#lasts.push(NONE);
    this.#firstTimes.push(Number.POSITIVE_INFINITY);
    return this.#lastTimes.push(0) - 1;
  }

  /** Schedules `handler.handle(kind, payload)` at `atMs`, or now if that has passed. */
  schedule(atMs: number, handler: EventHandler, kind: number, payload: unknown = null): void {
    const time = atMs > this.now ? atMs : this.now;
    this.#push(time, this.#create(time, handler, kind, payload));
  }

  /**
   * Schedules like `schedule`, for handler classes with few events: the JavaScript engine optimises the call of a handler
   * only while it sees few classes there.
   */
  scheduleRare(atMs: number, handler: EventHandler, kind: number, payload: unknown = null): void {
    this.schedule(atMs, RARE_HANDLER, kind, { handler, payload } satisfies RareEvent);
  }

  /** Schedules an event of a lane; cheap when it is not before the lane's last one. */
  append(lane: Lane, atMs: number, handler: EventHandler, kind: number, payload: unknown = null): void {
    const time = atMs > this.now ? atMs : this.now;
    const event = this.#create(time, handler, kind, payload);
    if (this.#firsts[lane] === NONE) {
      this.#firsts[lane] = event;
      this.#firstTimes[lane] = time;
    } else if (time < this.#lastTimes[lane]!) {
      this.#push(time, event);
      return;
    } else {
      this.#next[this.#lasts[lane]!] = event;
    }
    this.#lasts[lane] = event;
    this.#lastTimes[lane] = time;
  }

  /** Removes the earliest event, sets `now` to its time and handles it; false when there is none. */
  step(): boolean {
    let time = this.#heapTimes[0]!;
    let event = this.#heap[0]!;
    let from = NONE;
    const firstTimes = this.#firstTimes;
    for (let lane = 0; lane < firstTimes.length; lane++) {
      const firstTime = firstTimes[lane]!;
      if (firstTime > time) continue;
      const first = this.#firsts[lane]!;
      if (
        firstTime === time &&
        (first === NONE || (event !== NONE && this.#orders[event]! < this.#orders[first]!))
      )
        continue;
      time = firstTime;
      event = first;
      from = lane;
    }
    if (event === NONE) return false;
    this.now = time;
    const handler = this.#handlers[event]!;
    const kind = this.#kinds[event]!;
    const payload = this.#payloads[event];
    const next = this.#next[event]!;
    this.#next[event] = this.#unused;
    this.#unused = event;
    // Two call sites: lanes and heap have different handler classes, which the engine optimises separately.
    if (from === NONE) {
      this.#removeFirst();
      handler.handle(kind, payload);
    } else {
      this.#firsts[from] = next;
      firstTimes[from] = next === NONE ? Number.POSITIVE_INFINITY : this.#times[next]!;
      handler.handle(kind, payload);
    }
    return true;
  }

  #create(time: number, handler: EventHandler, kind: number, payload: unknown): number {
    const order = this.#scheduled++;
    const event = this.#unused;
    if (event === NONE) {
      this.#times.push(time);
      this.#orders.push(order);
      this.#handlers.push(handler);
      this.#kinds.push(kind);
      this.#payloads.push(payload);
      return this.#next.push(NONE) - 1;
    }
    this.#unused = this.#next[event]!;
    this.#times[event] = time;
    this.#orders[event] = order;
    this.#handlers[event] = handler;
    this.#kinds[event] = kind;
    this.#payloads[event] = payload;
    this.#next[event] = NONE;
    return event;
  }

  /** Adds a new event to the heap, behind all others of the same time. */
  #push(time: number, event: number): void {
    const times = this.#heapTimes;
    const heap = this.#heap;
    let at = this.#size++;
    if (at === heap.length) {
      heap.push(event);
      times.push(time);
    }
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const parentTime = times[parent]!;
      if (parentTime <= time) break;
      times[at] = parentTime;
      heap[at] = heap[parent]!;
      at = parent;
    }
    times[at] = time;
    heap[at] = event;
  }

  #removeFirst(): void {
    const times = this.#heapTimes;
    const heap = this.#heap;
    const size = --this.#size;
    if (size === 0) {
      times[0] = Number.POSITIVE_INFINITY;
      heap[0] = NONE;
      return;
    }
    const event = heap[size]!;
    const time = times[size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      let childTime = times[child]!;
      if (child + 1 < size) {
        const otherTime = times[child + 1]!;
        if (otherTime < childTime || (otherTime === childTime && this.#before(child + 1, heap[child]!))) {
          child++;
          childTime = otherTime;
        }
      }
      if (childTime > time || (childTime === time && !this.#before(child, event))) break;
      times[at] = childTime;
      heap[at] = heap[child]!;
      at = child;
    }
    times[at] = time;
    heap[at] = event;
  }

  /** Whether the heap's event at index `at` was scheduled before `event`. */
  #before(at: number, event: number): boolean {
    return this.#orders[this.#heap[at]!]! < this.#orders[event]!;
  }
}
