import { SEGMENT_WIRE_BYTES } from '../../network/packet.ts';
import type { Passage, PathElement } from './bottleneck-path.ts';

/** Depth of a bucket of unknown size, as the time in which it passes at the rate. Operators do not publish it. */
const DEPTH_MS = 25;
/** The least depth of such a bucket: ten full packets. Operators do not publish it either. */
const MIN_DEPTH_BYTES = 10 * SEGMENT_WIRE_BYTES;

/** A network's policer of UDP: a token bucket that drops packets beyond its rate (RFC 2475 section 2.3.3.4). */
export class Policer implements PathElement {
  readonly #bytesPerMs: number;
  readonly #depthBytes: number;
  #tokens = 0;
  #atMs = 0;

  /**
   * @param bps bits per second
   * @param burstBytes depth of the bucket
   */
  constructor(bps: number, burstBytes?: number) {
    this.#bytesPerMs = bps / 8000;
    this.#depthBytes = burstBytes ?? Math.max(MIN_DEPTH_BYTES, this.#bytesPerMs * DEPTH_MS);
    this.#tokens = this.#depthBytes;
  }

  pass(passage: Passage): void {
    const { startMs, spreadMs, packets, packetBytes } = passage;
    passage.packets = this.admit(startMs + spreadMs, packets, packetBytes);
    passage.policed = packets - passage.packets;
  }

  /** Takes tokens for a burst; returns how many of its packets pass. */
  admit(nowMs: number, packets: number, packetBytes: number): number {
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
