/** A policer: what comes faster than its rate, beyond a burst, is dropped (RFC 2697's committed rate and burst). */
export class TokenBucket {
  readonly #bytesPerSecond: number;
  readonly #burstBytes: number;
  #tokens: number;
  #filledAtMs = performance.now();

  constructor(bytesPerSecond: number, burstBytes: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#burstBytes = burstBytes;
    this.#tokens = burstBytes;
  }

  /** Whether a packet passes. */
  takes(bytes: number): boolean {
    const now = performance.now();
    const more = ((now - this.#filledAtMs) / 1000) * this.#bytesPerSecond;
    this.#tokens = Math.min(this.#burstBytes, this.#tokens + more);
    this.#filledAtMs = now;
    if (bytes > this.#tokens) return false;
    this.#tokens -= bytes;
    return true;
  }
}
