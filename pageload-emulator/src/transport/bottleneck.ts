/**
 * One direction of the shared bottleneck: first in, first out, serialising at a rate, with a
 * drop-tail queue. Connections share it as they do in reality: each gets what its window puts there.
 */
export class Bottleneck {
  readonly bytesPerMs: number;
  readonly #queueBytes: number;
  #busyUntilMs = 0;

  /** @param bps bits per second; @param queueBytes what may wait behind the packet on the wire */
  constructor(bps: number, queueBytes: number) {
    this.bytesPerMs = bps / 8000;
    this.#queueBytes = queueBytes;
  }

  /** When the last byte accepted so far leaves. */
  get busyUntilMs(): number {
    return this.#busyUntilMs;
  }

  /**
   * Packets of a back-to-back burst that find room.
   *
   * @param packetBytes size on the wire of each
   * @param spreadMs from the first one's arrival at the bottleneck to the last one's
   */
  room(nowMs: number, packets: number, packetBytes: number, spreadMs = 0): number {
    const waiting = (Math.max(0, this.#busyUntilMs - nowMs) - spreadMs) * this.bytesPerMs;
    const free = Math.floor((this.#queueBytes + packetBytes - waiting) / packetBytes);
    return free <= 0 ? 0 : Math.min(packets, free);
  }

  /** Accepts bytes without regard to the queue's size and returns when the last of them leaves. */
  serialise(nowMs: number, bytes: number): number {
    const startMs = Math.max(this.#busyUntilMs, nowMs);
    this.#busyUntilMs = startMs + bytes / this.bytesPerMs;
    return this.#busyUntilMs;
  }
}

/** Token bucket that drops what exceeds its rate: a network that polices UDP (RFC 2475 section 2.3.3.4). */
export class Policer {
  readonly #bytesPerMs: number;
  readonly #depthBytes: number;
  #tokens = 0;
  #atMs = 0;

  /** @param burstBytes depth of the bucket; by default ten full packets or 25 ms of the rate, as operators' are unknown to us */
  constructor(bps: number, burstBytes?: number) {
    this.#bytesPerMs = bps / 8000;
    this.#depthBytes = burstBytes ?? Math.max(15_000, this.#bytesPerMs * 25);
    this.#tokens = this.#depthBytes;
  }

  /** Packets of a burst that pass; their tokens are taken. */
  pass(nowMs: number, packets: number, packetBytes: number): number {
    // Bursts last: what was sent later may have passed already.
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
