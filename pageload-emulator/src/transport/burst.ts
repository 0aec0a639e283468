import { PACKETS_PER_ACK } from './packet.ts';
import { SegmentQueue } from './stream.ts';

/** Packets sent one after the other. Times are milliseconds after navigationStart. */
export class Burst {
  index = 0;
  /** When its last packet was sent. */
  sentMs = 0;
  packets = 0;
  /** Of them, those that arrive. */
  delivered = 0;
  /** What each packet takes of the window: Linux counts packets, QUIC bytes (RFC 9002 section 7). */
  share = 1;
  /** What arrives. */
  segments = new SegmentQueue();
  /** Round trip of its first packet. */
  firstRttMs = 0;
  /** From its first packet's arrival to the last one's. */
  spanMs = 0;
  /** When the first of its bytes that are not handed up arrived. */
  firstMs = 0;
  /** Packets that the browser has come to. */
  read = 0;
  /** When the first and the last of its acknowledgements reach the sender, and whose come behind. */
  firstAckMs = 0;
  ackMs = 0;
  next: Burst | null = null;
  /** None of its own acknowledgements arrives: that of a later burst stands for them. */
  unheard = false;
  /** Bytes of the connection's order that had arrived without a gap when it had been read; of TCP. */
  inOrderBytes = 0;
  // For samples of the delivery rate: packets delivered when it was sent, when the last of them was
  // acknowledged, and when that one had been sent.
  deliveredBefore = 0;
  deliveredBeforeMs = 0;
  deliveredSentMs = 0;
  appLimited = false;

  /** Whether all of it arrives. */
  get whole(): boolean {
    return this.delivered === this.packets;
  }

  /** Between two acknowledgements. */
  get ackGapMs(): number {
    return (this.spanMs * PACKETS_PER_ACK) / Math.max(1, this.packets - 1);
  }
}

/** Bursts to be used again. */
export class BurstPool {
  #unused: Burst | null = null;

  create(): Burst {
    const burst = this.#unused;
    if (burst === null) return new Burst();
    this.#unused = burst.next;
    burst.next = null;
    burst.read = 0;
    burst.unheard = false;
    return burst;
  }

  free(burst: Burst): void {
    burst.next = this.#unused;
    this.#unused = burst;
  }
}

/** Lost packets that the sender has not noticed. */
export interface Gap {
  /** Of the burst that they were in. */
  index: number;
  /** What they took of the window. */
  inFlight: number;
  segments: SegmentQueue;
  /** Whether packets behind them in the same burst arrived: its acknowledgement shows the gap. */
  ownBurst: boolean;
}

/**
 * Takes lost packets out of a burst.
 *
 * @param admitted packets that found room in the queue: those behind them are lost
 * @param lost positions of packets lost on the way, ascending
 */
export function takeLosses(
  burst: Burst,
  admitted: number,
  lost: readonly number[],
  payloadBytes: number,
): Gap {
  const { packets, segments: sent } = burst;
  const arrived = new SegmentQueue();
  const segments = new SegmentQueue();
  let ownBurst = false;
  let next = 0;
  for (let packet = 0; packet < packets; ) {
    const isLost = packet >= admitted || lost[next] === packet;
    let end = packet;
    if (packet >= admitted) {
      end = packets;
    } else if (isLost) {
      while (lost[next] === end) {
        next++;
        end++;
      }
    } else {
      end = Math.min(admitted, lost[next] ?? packets);
      if (segments.first !== null) ownBurst = true;
    }
    moveBytes(sent, (end - packet) * payloadBytes, isLost ? segments : arrived);
    packet = end;
  }
  burst.segments = arrived;
  return { index: burst.index, inFlight: (packets - burst.delivered) * burst.share, segments, ownBurst };
}

function moveBytes(from: SegmentQueue, bytes: number, to: SegmentQueue): void {
  for (let left = bytes; left > 0; ) {
    const segment = from.shiftBytes(left);
    if (segment === null) return;
    left -= segment.bytes;
    to.push(segment);
  }
}
