/** Counts of events on connections, for explaining a result. */
export interface TransportCounters {
  /** Packets lost at random. */
  lost: number;
  /** Packets dropped at the full queue. */
  queueDrops: number;
  /** Packets dropped by a policer of UDP. */
  policed: number;
  /** Timeouts without an acknowledgement. */
  timeouts: number;
  /** Streams that waited for another stream's lost packet. */
  blockedStreams: number;
  /** Sum of their waits, milliseconds. */
  blockedMs: number;
}

/** Creates counters that are all zero. */
export function noCounters(): TransportCounters {
  return { lost: 0, queueDrops: 0, policed: 0, timeouts: 0, blockedStreams: 0, blockedMs: 0 };
}
