/** What the acknowledgement of a burst tells. Windows are packets, times milliseconds, rates packets a millisecond. */
export interface Acknowledged {
  atMs: number;
  /** That it newly acknowledges. */
  packets: number;
  minRttMs: number;
  /**
   * Whether the window, not the application, held the sender back: a window that is not used does
   * not grow (RFC 9002 section 7.8).
   */
  windowLimited: boolean;
  // What only a control that takes `rateSamples` is told.
  /** Of the burst's first packet. */
  rttMs: number;
  inFlight: number;
  /** Packets that it showed to be lost. */
  lost: number;
  /** In all, and when the burst was sent. */
  delivered: number;
  deliveredWhenSent: number;
  /** From when the burst was sent (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation, section 3.2). */
  rate: number;
  /** Whether the application, not the path, set that rate. */
  appLimited: boolean;
}

/** Windows are packets, times milliseconds. */
export interface CongestionControl {
  /** Packets that may be in flight. */
  window: number;
  readonly slowStart: boolean;
  /** Packets a millisecond at which to pace, or null to leave that to the transport. */
  readonly paceRate: number | null;
  /** Whether it goes by samples of the delivery rate: then its window is its own affair also while losses are repaired. */
  readonly rateSamples: boolean;
  /** The handshake is done: a first round trip is known. */
  onOpen?(rttMs: number): void;
  onAck(ack: Acknowledged): void;
  /** A loss event: once a recovery, however many packets it took. */
  onLoss(nowMs: number, inFlight: number): void;
  /** All that was lost is repaired. */
  onRecovered(): void;
  /**
   * Retransmission timeout: nothing of the flight came back.
   *
   * @param again whether the window was already cut for these losses
   */
  onTimeout(nowMs: number, again: boolean): void;
  /** Slow start found a queue before it found a loss (RFC 9406). */
  leaveSlowStart(): void;
  /** The connection was idle for `timeouts` (1 and more) retransmission timeouts (RFC 5681 section 4.1). */
  onIdle(timeouts: number): void;
}

/**
 * A window after idleness: halved for each retransmission timeout, but not below the initial one
 * (RFC 2861 section 2, as Linux does).
 */
export function idleWindow(window: number, initialWindow: number, timeouts: number): number {
  return Math.max(Math.min(window, initialWindow), window / 2 ** Math.min(timeouts, 30));
}

/** The transports differ in their habits, not in their equations. */
export type Transport = 'tcp' | 'quic';
