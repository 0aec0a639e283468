/**
 * One direction of the shared bottleneck: serialises at a rate, with a first-in, first-out drop-tail queue. Connections share
 * it as in reality: each gets the share that its packets have of the queue.
 */
export class Bottleneck {
  readonly bytesPerMs: number;
  readonly #queueBytes: number;
  #busyUntilMs = 0;

  /**
   * @param bps bits per second
   * @param queueBytes capacity of the queue behind the packet on the wire
   */
  constructor(bps: number, queueBytes: number) {
    this.bytesPerMs = bps / 8000;
    this.#queueBytes = queueBytes;
  }

  /** When the last byte accepted so far leaves. */
  get busyUntilMs(): number {
    return this.#busyUntilMs;
  }

  /**
   * Returns how many packets of a back-to-back burst the queue admits.
   *
   * @param packetBytes size of each on the wire
   * @param spreadMs from the first one's arrival at the bottleneck to the last one's
   */
  room(nowMs: number, packets: number, packetBytes: number, spreadMs = 0): number {
    const waiting = (Math.max(0, this.#busyUntilMs - nowMs) - spreadMs) * this.bytesPerMs;
    const free = Math.floor((this.#queueBytes + packetBytes - waiting) / packetBytes);
    return free <= 0 ? 0 : Math.min(packets, free);
  }

  /** Accepts bytes regardless of the queue's size; returns when the last of them leaves. */
  serialise(nowMs: number, bytes: number): number {
    const startMs = Math.max(this.#busyUntilMs, nowMs);
    this.#busyUntilMs = startMs + bytes / this.bytesPerMs;
    return this.#busyUntilMs;
  }
}

/** A network's policer of UDP: a token bucket that drops packets beyond its rate (RFC 2475 section 2.3.3.4). */
export class Policer {
  readonly #bytesPerMs: number;
  readonly #depthBytes: number;
  #tokens = 0;
  #atMs = 0;

  /**
   * @param bps bits per second
   * @param burstBytes depth of the bucket; by default ten full packets or 25 ms at the rate, as operators publish none
   */
  constructor(bps: number, burstBytes?: number) {
    this.#bytesPerMs = bps / 8000;
    this.#depthBytes = burstBytes ?? Math.max(15_000, this.#bytesPerMs * 25);
    this.#tokens = this.#depthBytes;
  }

  /** Takes tokens for a burst; returns how many of its packets pass. */
  pass(nowMs: number, packets: number, packetBytes: number): number {
    // Bursts overlap in time: a later one may have passed already.
    if (nowMs > this.#atMs) {
      const refilled = this.#tokens + (nowMs - this.#atMs) * this.#bytesPerMs;
      this.#tokens = Math.min(this.#depthBytes, refilled);
      this.#atMs = nowMs;
    }
    const passed = Math.min(packets, Math.floor(this.#tokens / packetBytes));
    this.#tokens -= passed * packetBytes;
    return passed;
  }
}
