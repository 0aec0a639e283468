/** What connections went through, for explaining a result. */
export interface TransportCounters {
  /** Packets lost at random. */
  lost: number;
  /** Packets dropped at the full queue. */
  queueDrops: number;
  /** Packets dropped by a policer of UDP. */
  policed: number;
  /** Waits for a timer because nothing came back. */
  timeouts: number;
  /** Streams that waited for another stream's lost packet. */
  blockedStreams: number;
  /** How long they waited in all, milliseconds. */
  blockedMs: number;
}

export function noCounters(): TransportCounters {
  return { lost: 0, queueDrops: 0, policed: 0, timeouts: 0, blockedStreams: 0, blockedMs: 0 };
}
