import type { Passage, PathElement } from './bottleneck-path.ts';

/**
 * One direction of the shared bottleneck: serialises at a rate, with a first-in, first-out drop-tail queue. Connections share
 * it as in reality: each gets the share that its packets have of the queue.
 */
export class BottleneckQueue implements PathElement {
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

  pass(passage: Passage): void {
    const { startMs, spreadMs, packets, packetBytes } = passage;
    const admitted = this.room(startMs, packets, packetBytes, spreadMs);
    passage.packets = admitted;
    passage.queueDrops = packets - admitted;
    if (admitted === 0) return;
    const packetMs = packetBytes / this.bytesPerMs;
    passage.firstLeavesMs = Math.max(this.#busyUntilMs, startMs) + packetMs;
    const leavesMs = this.serialise(startMs, admitted * packetBytes);
    passage.leavesMs = Math.max(leavesMs, startMs + spreadMs + packetMs);
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
