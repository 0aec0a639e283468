/** When and how far a bottleneck passes on a burst. */
interface Passage {
  /** When its first segment is passed on. */
  startMs: number;
  /** How many of it path and queue take: the rest is dropped. */
  fits: number;
}

/**
 * The one bottleneck of all connections, first come, first served, with a drop-tail queue: ECON's connections
 * neither share a rate nor fill each other's queue.
 */
export class SharedBottleneck {
  readonly segmentsPerMs: number;
  readonly #roomSegments: number;
  #inFlight = 0;
  #freeMs = 0;

  /** @param roomSegments what path and queue hold */
  constructor(segmentsPerMs: number, roomSegments: number) {
    this.segmentsPerMs = segmentsPerMs;
    this.#roomSegments = roomSegments;
  }

  pass(nowMs: number, count: number): Passage {
    const startMs = Math.max(nowMs, this.#freeMs);
    const fits = Math.max(0, Math.min(count, Math.floor(this.#roomSegments - this.#inFlight)));
    this.#inFlight += fits;
    this.#freeMs = startMs + fits / this.segmentsPerMs;
    return { startMs, fits };
  }

  /** Segments that fitted are no longer in flight. */
  release(count: number): void {
    this.#inFlight -= count;
  }
}
