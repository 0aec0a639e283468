/** What connections went through, for explaining a result. */
export interface TransportCounters {
  /** Packets lost at random, at the queue, and at a policer. */
  lost: number;
  queueDrops: number;
  policed: number;
  /** Waits for a timer because nothing came back. */
  timeouts: number;
  /** Streams that waited for another stream's lost packet, and for how long in all. */
  blockedStreams: number;
  blockedMs: number;
}

export function noCounters(): TransportCounters {
  return { lost: 0, queueDrops: 0, policed: 0, timeouts: 0, blockedStreams: 0, blockedMs: 0 };
}
