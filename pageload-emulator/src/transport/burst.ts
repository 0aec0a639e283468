import { PACKETS_PER_ACK } from '../network/packet.ts';
import { SegmentQueue } from './stream.ts';

/** Packets sent back to back and simulated as one. Times are milliseconds after navigationStart. */
export class Burst {
  index = 0;
  /** When its last packet was sent. */
  sentMs = 0;
  packets = 0;
  /** Packets of it that arrive. */
  delivered = 0;
  /** What each packet counts against the window: 1 on Linux, which counts packets, less for short packets of QUIC, which counts bytes (RFC 9002 section 7). */
  share = 1;
  /** The bytes that arrive. */
  segments = new SegmentQueue();
  /** Round trip of its first packet. */
  firstRttMs = 0;
  /** Time from its first packet's arrival to the last one's. */
  spanMs = 0;
  /** When the first of its bytes that are not yet handed up arrived. */
  firstMs = 0;
  /** Packets that the browser has read. */
  read = 0;
  /** When the first and the last of its acknowledgements reach the sender. */
  firstAckMs = 0;
  ackMs = 0;
  /** The next burst in order of acknowledgement. */
  next: Burst | null = null;
  /** Whether all its acknowledgements are lost, so that a later burst's acknowledges it. */
  allAcksLost = false;
  /** TCP only: bytes of the connection that had arrived without a gap when it had been read. */
  inOrderBytes = 0;
  // For delivery-rate samples: packets delivered when the burst was sent, when the last of them was acknowledged, and when
  // that one had been sent.
  deliveredBefore = 0;
  deliveredBeforeMs = 0;
  deliveredSentMs = 0;
  appLimited = false;

  /** Whether all its packets arrive. */
  get whole(): boolean {
    return this.delivered === this.packets;
  }

  /** Time between two of its acknowledgements. */
  get ackGapMs(): number {
    return (this.spanMs * PACKETS_PER_ACK) / Math.max(1, this.packets - 1);
  }
}

/** Reuses bursts. */
export class BurstPool {
  #unused: Burst | null = null;

  create(): Burst {
    const burst = this.#unused;
    if (burst === null) return new Burst();
    this.#unused = burst.next;
    burst.next = null;
    burst.read = 0;
    burst.allAcksLost = false;
    return burst;
  }

  free(burst: Burst): void {
    burst.next = this.#unused;
    this.#unused = burst;
  }
}

/** Lost packets that the sender has not detected yet. */
export interface Gap {
  /** Index of their burst. */
  index: number;
  /** What they count against the window, packets. */
  inFlight: number;
  segments: SegmentQueue;
  /** Whether later packets of the same burst arrive, so that its acknowledgement shows the gap. */
  ownBurst: boolean;
}

/**
 * Removes the lost packets from a burst.
 *
 * @param admitted packets that the queue admitted: those behind them are lost
 * @param lost positions of packets lost at random, ascending
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
