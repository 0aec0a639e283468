import { PACKETS_PER_ACK } from './packet.ts';
import { SegmentQueue } from './stream.ts';

/** Packets sent back to back. Times are milliseconds after navigationStart. */
export class Burst {
  readonly index: number;
  /** When its last packet was sent. */
  readonly sentMs: number;
  readonly packets: number;
  /** Of them, those that arrive. */
  delivered: number;
  /** What each packet takes of the window: Linux counts packets, QUIC bytes (RFC 9002 section 7). */
  readonly share: number;
  /** What arrives. */
  segments: SegmentQueue;
  firstRttMs: number;
  /** From its first packet's arrival to the last one's. */
  readonly spanMs: number;
  /** When the first and the last of its acknowledgements reach the sender, and whose come behind. */
  firstAckMs = 0;
  ackMs = 0;
  next: Burst | null = null;

  constructor(
    index: number,
    sentMs: number,
    packets: number,
    delivered: number,
    share: number,
    segments: SegmentQueue,
    firstRttMs: number,
    spanMs: number,
  ) {
    this.index = index;
    this.sentMs = sentMs;
    this.packets = packets;
    this.delivered = delivered;
    this.share = share;
    this.segments = segments;
    this.firstRttMs = firstRttMs;
    this.spanMs = spanMs;
  }

  /** Whether all of it arrives. */
  get whole(): boolean {
    return this.delivered === this.packets;
  }

  /** Between two acknowledgements. */
  get ackGapMs(): number {
    return (this.spanMs * PACKETS_PER_ACK) / Math.max(1, this.packets - 1);
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
