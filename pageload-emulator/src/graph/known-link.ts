/** The link that a page was recorded on. */
export interface KnownLink {
  /** Downstream rate, bits per second. */
  downBps: number;
  /** Upstream rate, bits per second. */
  upBps: number;
  /** The time that its full queue takes to drain, milliseconds: an upper bound. */
  maxQueueMs: number;
  /** Whether a policer of UDP is likely enough to explain slow responses. */
  mayBePoliced: boolean;
}
