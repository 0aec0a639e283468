/** Something that events happen to. `kind` is private to the handler; `payload` is what it scheduled. */
export interface EventHandler {
  handle(kind: number, payload: unknown): void;
}

/**
 * Discrete-event clock: a binary heap ordered by time, then by order of scheduling, so that a run is
 * the same every time. Times are milliseconds after navigationStart.
 */
export class EventQueue {
  now = 0;
  #size = 0;
  #scheduled = 0;
  // Keys apart from what they carry: comparisons stay within two flat arrays.
  #times = new Float64Array(256);
  #orders = new Float64Array(256);
  #handlers: EventHandler[] = [];
  #kinds: number[] = [];
  #payloads: unknown[] = [];

  /** Schedules `handler.handle(kind, payload)`; a time in the past happens now. */
  schedule(atMs: number, handler: EventHandler, kind: number, payload: unknown = null): void {
    const time = Math.max(atMs, this.now);
    const order = this.#scheduled++;
    let at = this.#size++;
    if (at === this.#times.length) this.#grow();
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#times[parent]! <= time) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#place(at, time, order, handler, kind, payload);
  }

  /** Takes the earliest event, moves `now` there and handles it; false when there is none. */
  step(): boolean {
    if (this.#size === 0) return false;
    this.now = this.#times[0]!;
    const handler = this.#handlers[0]!;
    const kind = this.#kinds[0]!;
    const payload = this.#payloads[0];
    this.#removeFirst();
    handler.handle(kind, payload);
    return true;
  }

  #removeFirst(): void {
    const last = --this.#size;
    const time = this.#times[last]!;
    const order = this.#orders[last]!;
    const handler = this.#handlers[last]!;
    const kind = this.#kinds[last]!;
    const payload = this.#payloads[last];
    this.#handlers.length = last;
    this.#kinds.length = last;
    this.#payloads.length = last;
    if (last === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      if (child + 1 < last && this.#before(child + 1, child)) child++;
      const childTime = this.#times[child]!;
      if (childTime > time || (childTime === time && this.#orders[child]! > order)) break;
      this.#move(child, at);
      at = child;
    }
    this.#place(at, time, order, handler, kind, payload);
  }

  #before(a: number, b: number): boolean {
    const difference = this.#times[a]! - this.#times[b]!;
    return difference < 0 || (difference === 0 && this.#orders[a]! < this.#orders[b]!);
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from]!;
    this.#orders[to] = this.#orders[from]!;
    this.#handlers[to] = this.#handlers[from]!;
    this.#kinds[to] = this.#kinds[from]!;
    this.#payloads[to] = this.#payloads[from];
  }

  #place(at: number, time: number, order: number, handler: EventHandler, kind: number, payload: unknown) {
    this.#times[at] = time;
    this.#orders[at] = order;
    this.#handlers[at] = handler;
    this.#kinds[at] = kind;
    this.#payloads[at] = payload;
  }

  #grow(): void {
    const times = new Float64Array(this.#times.length * 2);
    times.set(this.#times);
    this.#times = times;
    const orders = new Float64Array(this.#orders.length * 2);
    orders.set(this.#orders);
    this.#orders = orders;
  }
}
