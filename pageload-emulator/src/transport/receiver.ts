import { PACKETS_PER_ACK, type PacketFormat } from '../network/packet.ts';
import type { Burst } from './burst.ts';
import type { ConnectionState } from './connection-state.ts';
import type { EventHandler } from './event-queue.ts';
import type { LossProcess } from './path/loss.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Segment, Stream } from './stream.ts';

/** In a burst of at most this many packets all responses arrive with its last byte. */
const FEW_PACKETS = 2;

// Events: the end of a response within a burst, and the end of the burst.
const RESPONSE_ARRIVED = 0;
const ARRIVED = 1;
const RESPONSE_READ = 2;
const READ = 3;

/** The sender's side, which learns what becomes of acknowledgements. */
export interface AckListener {
  /** A burst has arrived, but all its acknowledgements were lost. */
  onAcksLost(burst: Burst): void;
  /** A burst has arrived; the last of its acknowledgements reaches the sender at `atMs`. */
  onAckScheduled(burst: Burst, atMs: number): void;
}

/** The browser's side of a connection: acknowledges bursts and hands up their bytes in order. */
export class Receiver implements EventHandler {
  readonly #context: SimulationContext;
  readonly #connection: ConnectionState;
  readonly #overQuic: boolean;
  readonly #packet: PacketFormat;
  readonly #upLoss: LossProcess;
  readonly #oneWayUpMs: number;
  #acks: AckListener | null = null;
  /** Bursts all of whose acknowledgements were lost. */
  #withoutAck: Burst[] = [];
  /** Bytes that arrived without a gap, in the byte order used last: over TCP, the connection's. */
  #inOrderBytes = 0;

  constructor(context: SimulationContext, connection: ConnectionState) {
    this.#context = context;
    this.#connection = connection;
    this.#overQuic = connection.transport === 'quic';
    this.#packet = connection.packet;
    this.#upLoss = connection.loss.up;
    this.#oneWayUpMs = connection.oneWayUpMs;
  }

  /**
   * Schedules the arrival of a burst whose last packet leaves the bottleneck at `leavesMs`.
   *
   * @param bytes response bytes in it
   */
  expect(burst: Burst, bytes: number, leavesMs: number, acks: AckListener): void {
    const { events, arrivals, path } = this.#context;
    this.#acks = acks;
    const arrivesMs = leavesMs + path.rttMs / 2;
    burst.firstMs = arrivesMs - burst.spanMs;
    if (burst.whole && burst.packets > FEW_PACKETS) {
      // A response's end does not wait for the bytes behind it.
      let behind = bytes;
      for (let segment = burst.segments.first!; segment.next !== null; segment = segment.next) {
        behind -= segment.bytes;
        if (!segment.ends) continue;
        const atMs = arrivesMs - (burst.spanMs * behind) / bytes;
        events.append(arrivals, atMs, this, RESPONSE_ARRIVED, burst);
      }
    }
    events.append(arrivals, arrivesMs, this, ARRIVED, burst);
  }

  handle(kind: number, payload: unknown): void {
    const burst = payload as Burst;
    switch (kind) {
      case RESPONSE_ARRIVED:
        if (this.#overQuic) this.#wakeReader(burst, RESPONSE_READ, this.#firstResponse(burst));
        else this.#receiveResponse(burst);
        break;
      case ARRIVED:
        if (this.#overQuic) this.#wakeReader(burst, READ, burst.delivered - burst.read);
        else this.#read(burst);
        break;
      case RESPONSE_READ:
        this.#receiveResponse(burst);
        break;
      case READ:
        this.#read(burst);
        break;
    }
  }

  /** The browser acknowledges QUIC when its thread is free; the kernel acknowledges TCP at once. */
  #wakeReader(burst: Burst, kind: number, packets: number): void {
    const { events, client, reads, quicPacketMs } = this.#context;
    const workMs = packets * quicPacketMs;
    const readMs = client.run(events.now, workMs);
    // The first packet's wait looks to the sender like a queue.
    if (burst.read === 0) burst.firstRttMs += readMs - events.now - workMs;
    burst.read += packets;
    if (readMs > events.now) events.append(reads, readMs, this, kind, burst);
    else this.handle(kind, burst);
  }

  /** Number of packets of the first response in a burst. */
  #firstResponse(burst: Burst): number {
    let bytes = 0;
    for (let segment = burst.segments.first; segment !== null; segment = segment.next) {
      bytes += segment.bytes;
      if (segment.ends) break;
    }
    return Math.min(burst.delivered - burst.read, Math.ceil(bytes / this.#packet.payloadBytes));
  }

  #read(burst: Burst): void {
    const { events, path } = this.#context;
    const acks = Math.ceil(burst.delivered / PACKETS_PER_ACK);
    const leavesMs = path.up.serialise(events.now, acks * this.#packet.ackBytes);
    const lost = this.#upLoss.lostOf(acks);
    if (lost === null || lost.length < acks) {
      this.#acknowledge(burst, leavesMs + this.#oneWayUpMs);
    } else {
      burst.allAcksLost = true;
      this.#withoutAck.push(burst);
      this.#acks!.onAcksLost(burst);
    }
    this.#noteFirst(burst);
    const { segments } = burst;
    for (let segment = segments.shift(); segment !== null; segment = segments.shift()) this.#receive(segment);
    burst.inOrderBytes = this.#inOrderBytes;
  }

  /** Acknowledgements are cumulative: this one also covers earlier bursts whose own were lost. */
  #acknowledge(burst: Burst, atMs: number): void {
    if (this.#withoutAck.length > 0) {
      for (const earlier of this.#withoutAck.splice(0)) this.#acks!.onAckScheduled(earlier, atMs);
    }
    this.#acks!.onAckScheduled(burst, atMs);
  }

  /** Receives a burst's bytes up to the end of its first response. */
  #receiveResponse(burst: Burst): void {
    this.#noteFirst(burst);
    const { segments } = burst;
    for (let segment = segments.shift(); segment !== null; segment = segments.shift()) {
      const { ends } = segment;
      this.#receive(segment);
      if (ends) break;
    }
    burst.firstMs = this.#context.events.now;
  }

  /** Sets the time of a response's first byte, which arrived with the burst's first packet. */
  #noteFirst(burst: Burst): void {
    const { first } = burst.segments;
    if (first === null || first.stream.firstByteMs >= 0 || first.offset !== first.stream.order.delivered)
      return;
    first.stream.firstByteMs = burst.whole ? burst.firstMs : this.#context.events.now;
  }

  #receive(segment: Segment): void {
    const { order } = segment.stream;
    if (segment.offset !== order.delivered) {
      segment.heldSinceMs = this.#context.events.now;
      order.hold(segment);
      return;
    }
    const { stream } = segment;
    this.#handUp(segment);
    if (order.holds) this.#release(stream);
    this.#inOrderBytes = order.delivered;
  }

  /** Hands up what waited behind the bytes of `of` that have now arrived. */
  #release(of: Stream): void {
    const { events, trace } = this.#context;
    const { order } = of;
    let next = order.release();
    if (next === null) return;
    const heldMs = new Map<Stream, number>();
    for (; next !== null; next = order.release()) {
      const { stream } = next;
      const waitedMs = events.now - next.heldSinceMs;
      const before = heldMs.get(stream);
      if (before === undefined && stream !== of) {
        this.#connection.counters.blockedStreams++;
        this.#connection.counters.blockedMs += waitedMs;
      }
      heldMs.set(stream, Math.max(before ?? 0, waitedMs));
      this.#handUp(next);
    }
    if (heldMs.size > 0) trace?.released(this.#connection.id, of, heldMs, events.now);
  }

  #handUp(segment: Segment): void {
    const { stream, bytes } = segment;
    this.#context.segments.free(segment);
    stream.order.delivered += bytes;
    if (stream.firstByteMs < 0) stream.firstByteMs = this.#context.events.now;
    stream.received += bytes;
    stream.owner.onData(stream);
  }
}
