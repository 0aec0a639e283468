/** Counts the packets that a TCP connection's receiver missed, from figures of its socket alone. */
import type { TcpInfo } from './tcp-info.ts';

/** Received segments and losses, by the connection's round trip at that time, which grows with the bottleneck's queue. */
export interface LossesAtRtt {
  /** Milliseconds, rounded to `RTT_STEP_MS`. */
  rttMs: number;
  /** Received segments with data. */
  packets: number;
  /** Runs of lost packets. */
  events: number;
  /** Packets lost in these runs. */
  lost: number;
}

const RTT_STEP_MS = 5;

/**
 * Segments that end a record or a response are short, so bytes count them as less than one. After a release, this share of the held
 * segments may be left by that alone.
 */
const SHORT_SEGMENTS = 1 / 3;
/** Longer runs are taken for a gap whose end was missed; assumed. */
const MAX_RUN = 64;

/**
 * Follows gaps in the received sequence numbers. Data behind a gap count as out of order and do not advance the received bytes.
 * The retransmission that ends a gap releases them: the bytes advance by more segments than have arrived in order. Until then each
 * segment that arrives in order is a retransmission, so their number is the length of the run. Losses without data behind them (the
 * last of a response, handshakes) remain unseen.
 */
export class LossCounter {
  #last: TcpInfo | null = null;
  /** Segments behind a gap. */
  #held = 0;
  /** Retransmissions received since the gap began or since data were released. */
  #retransmitted = 0;
  /** Round trip when the gap was noticed; null while unknown. */
  #gapRttMs: number | null = null;
  #events = 0;
  #lost = 0;
  readonly #atRtt = new Map<number, LossesAtRtt>();

  /** Runs of lost packets so far. */
  get events(): number {
    return this.#events;
  }

  /** Lost packets so far. */
  get lost(): number {
    return this.#lost;
  }

  /** By ascending round trip, from its first sample on: until then the queue is unknown. */
  get atRtt(): LossesAtRtt[] {
    return [...this.#atRtt.values()].sort((a, b) => a.rttMs - b.rttMs);
  }

  /**
   * To be called before and after each read of the socket: segments that arrive before a gap are then not mistaken for
   * retransmissions.
   */
  observe(info: TcpInfo): void {
    const last = this.#last;
    this.#last = info;
    const arrived = info.dataSegmentsIn - (last?.dataSegmentsIn ?? 0);
    const outOfOrder = info.outOfOrder - (last?.outOfOrder ?? 0);
    const inOrder = arrived - outOfOrder;
    // What has arrived met the queue that the figures before it show.
    const rttMs = last?.receiverRttMs ?? null;
    const now = this.#at(rttMs);
    if (now) now.packets += arrived;
    const wasOpen = this.#held > 0;
    if (!wasOpen && outOfOrder > 0) this.#gapRttMs = rttMs;
    this.#held += outOfOrder;
    if (inOrder <= 0 || info.maxSegmentBytes === 0) return;
    const releasedBytes = info.bytesIn - (last?.bytesIn ?? 0) - inOrder * info.maxSegmentBytes;
    if (releasedBytes <= 0) {
      // With no gap before, these segments have arrived before the first one out of order.
      if (wasOpen) this.#retransmitted += inOrder;
      if (this.#retransmitted > MAX_RUN) this.#forgetGap();
      return;
    }
    this.#count(this.#retransmitted + inOrder, this.#held > 0 ? this.#gapRttMs : rttMs);
    this.#retransmitted = 0;
    const left = this.#held - Math.ceil(releasedBytes / info.maxSegmentBytes);
    this.#held = left <= SHORT_SEGMENTS * this.#held ? 0 : left;
  }

  #forgetGap(): void {
    this.#held = 0;
    this.#retransmitted = 0;
  }

  #count(lost: number, rttMs: number | null): void {
    this.#events += 1;
    this.#lost += lost;
    const losses = this.#at(rttMs);
    if (!losses) return;
    losses.events += 1;
    losses.lost += lost;
  }

  #at(rttMs: number | null): LossesAtRtt | null {
    if (rttMs === null) return null;
    const rounded = RTT_STEP_MS * Math.round(rttMs / RTT_STEP_MS);
    let losses = this.#atRtt.get(rounded);
    if (!losses) {
      losses = { rttMs: rounded, packets: 0, events: 0, lost: 0 };
      this.#atRtt.set(rounded, losses);
    }
    return losses;
  }
}
