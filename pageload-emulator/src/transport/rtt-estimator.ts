/** A sender's estimate of the round trip, milliseconds (RFC 6298 section 2, RFC 9002 section 5). */
export class RttEstimator {
  /** Smoothed; 0 before the first sample. */
  smoothedMs = 0;
  variationMs = 0;
  minMs = Number.POSITIVE_INFINITY;

  /** Adds a sample. @param firstMs round trip of the first acknowledged packet, which waited least */
  sample(rttMs: number, firstMs: number): void {
    if (firstMs < this.minMs) this.minMs = firstMs;
    if (this.smoothedMs === 0) {
      this.smoothedMs = rttMs;
      this.variationMs = rttMs / 2;
      return;
    }
    this.variationMs += (Math.abs(rttMs - this.smoothedMs) - this.variationMs) / 4;
    this.smoothedMs += (rttMs - this.smoothedMs) / 8;
  }
}
