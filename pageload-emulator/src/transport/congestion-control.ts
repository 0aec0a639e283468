/** Windows are packets, times milliseconds. */
export interface CongestionControl {
  /** Packets that may be in flight. */
  window: number;
  readonly slowStart: boolean;
  /** Packets a millisecond at which to pace, or null to leave that to the transport. */
  readonly paceRate: number | null;
  /**
   * @param windowLimited whether the window, not the application, held the sender back: a window
   *   that is not used does not grow (RFC 9002 section 7.8)
   */
  onAck(packets: number, nowMs: number, rttMs: number, minRttMs: number, windowLimited: boolean): void;
  /** A loss event: once a round trip, however many packets it took. */
  onLoss(nowMs: number): void;
  /** Retransmission timeout: nothing of the flight came back. */
  onTimeout(nowMs: number): void;
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
