/** What the acknowledgement of a burst shows. Windows are packets, times milliseconds, rates packets a millisecond. */
export interface Acknowledged {
  atMs: number;
  /** Newly acknowledged packets. */
  packets: number;
  minRttMs: number;
  /**
   * Whether the window, not the application, limited the sender: an unused window does not grow (RFC 9002 section 7.8).
   */
  windowLimited: boolean;
  // The fields below are set only for a control with `rateSamples`.
  /** Round trip of the burst's first packet. */
  rttMs: number;
  inFlight: number;
  /** Packets that the acknowledgement shows to be lost. */
  lost: number;
  /** Packets delivered in all. */
  delivered: number;
  /** Packets that had been delivered when the burst was sent. */
  deliveredWhenSent: number;
  /** Delivery rate since the burst was sent (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation, section 3.2). */
  rate: number;
  /** Whether the application, not the path, limited that rate. */
  appLimited: boolean;
}

/** A congestion control algorithm. Windows are packets, times milliseconds. */
export interface CongestionAlgorithm {
  /** Packets that may be in flight. */
  window: number;
  readonly slowStart: boolean;
  /** Pacing rate, packets a millisecond; null to leave pacing to the transport. */
  readonly paceRate: number | null;
  /** Whether it uses delivery-rate samples; it then also sets its window while losses are repaired. */
  readonly rateSamples: boolean;
  /** The handshake has ended and shown a first round trip. */
  onOpen?(rttMs: number): void;
  onAck(ack: Acknowledged): void;
  /** A loss event: called once per recovery, however many packets were lost. */
  onLoss(nowMs: number, inFlight: number): void;
  /** Packets that were found to be lost, over QUIC; after the `onLoss` that they lead to. */
  onPacketsLost?(packets: number): void;
  /** All losses are repaired. */
  onRecovered(): void;
  /**
   * A retransmission timeout: no acknowledgement of the flight arrived.
   *
   * @param again whether the window was already reduced for these losses
   */
  onTimeout(nowMs: number, again: boolean): void;
  /** Leaves slow start because of a rising delay, before a loss (HyStart, RFC 9406). */
  leaveSlowStart(): void;
  /** The connection was idle for `timeouts` (1 and more) retransmission timeouts (RFC 5681 section 4.1). */
  onIdle(timeouts: number): void;
}

/**
 * The window after idleness: halved for each retransmission timeout, but not below the initial window (RFC 2861 section 2, as
 * in Linux). Packets.
 */
export function idleWindow(window: number, initialWindow: number, timeouts: number): number {
  return Math.max(Math.min(window, initialWindow), window / 2 ** Math.min(timeouts, 30));
}
