import type { Burst } from './burst.ts';
import type { Acknowledged } from './congestion-control/congestion-control.ts';

/** Samples a connection's delivery rate (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation, section 3). Packets and milliseconds. */
export class DeliveryRate {
  /** Packets delivered in all. */
  #delivered = 0;
  /** When the last of them was acknowledged, and when it had been sent. */
  #deliveredMs = 0;
  #deliveredSentMs = 0;
  #appLimitedUntil = 0;

  /** Notes that the application has nothing to send beyond what is in flight. */
  limitByApplication(inFlight: number): void {
    this.#appLimitedUntil = this.#delivered + inFlight;
  }

  /**
   * Stores in a burst the state that its sample will be relative to.
   *
   * @param idle whether nothing was in flight before it
   */
  stamp(burst: Burst, idle: boolean): void {
    if (idle) {
      this.#deliveredMs = burst.sentMs;
      this.#deliveredSentMs = burst.sentMs;
    }
    burst.deliveredBefore = this.#delivered;
    burst.deliveredBeforeMs = this.#deliveredMs;
    burst.deliveredSentMs = this.#deliveredSentMs;
    burst.appLimited = this.#delivered < this.#appLimitedUntil;
  }

  /** Counts the acknowledgement of `packets` of a burst and writes the sample into `ack`. */
  sample(burst: Burst, packets: number, ack: Acknowledged): void {
    const sentMs = burst.sentMs - burst.deliveredSentMs;
    const intervalMs = Math.max(sentMs, burst.ackMs - burst.deliveredBeforeMs);
    this.#delivered += packets;
    this.#deliveredMs = burst.ackMs;
    this.#deliveredSentMs = burst.sentMs;
    ack.delivered = this.#delivered;
    ack.deliveredWhenSent = burst.deliveredBefore;
    ack.rate = intervalMs > 0 ? (this.#delivered - burst.deliveredBefore) / intervalMs : 0;
    ack.appLimited = burst.appLimited;
  }
}
