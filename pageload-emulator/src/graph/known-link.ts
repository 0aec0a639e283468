import type { UdpTreatment } from '@hopwise/contract';

/** The link that a page was recorded on. */
export interface KnownLink {
  /** Downstream rate, bits per second. */
  downBps: number;
  /** Upstream rate, bits per second. */
  upBps: number;
  /** The time that its full queue takes to drain, milliseconds: an upper bound. */
  maxQueueMs: number;
  /** What slows responses over HTTP/3 alone: UDP's likeliest treatment, and a policer where one is not unlikely. */
  udp: UdpTreatment;
}
