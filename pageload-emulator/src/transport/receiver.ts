import type { Burst } from './burst.ts';
import type { Transport } from './congestion-control.ts';
import type { EventHandler } from './event-queue.ts';
import type { Network } from './network.ts';
import { PACKET, PACKETS_PER_ACK } from './packet.ts';
import type { Sender } from './sender.ts';
import type { Segment, SegmentQueue, Stream } from './stream.ts';
import type { TransportCounters } from './transport-counters.ts';

const ARRIVED = 0;
const READ = 1;

/** The browser's side of a connection: acknowledges what arrives and hands it up in order. */
export class Receiver implements EventHandler {
  readonly #network: Network;
  readonly #transport: Transport;
  readonly #connection: object;
  readonly #oneWayUpMs: number;
  readonly #counters: TransportCounters;
  #sender: Sender | null = null;

  /** @param connection whose bytes arrive, for who listens */
  constructor(
    network: Network,
    transport: Transport,
    connection: object,
    oneWayUpMs: number,
    counters: TransportCounters,
  ) {
    this.#network = network;
    this.#transport = transport;
    this.#connection = connection;
    this.#oneWayUpMs = oneWayUpMs;
    this.#counters = counters;
  }

  /** A burst whose last packet leaves the bottleneck at `leavesMs` is on its way here. */
  expect(burst: Burst, leavesMs: number, sender: Sender): void {
    const { events, arrivals, rttMs } = this.#network;
    this.#sender = sender;
    events.append(arrivals, leavesMs + rttMs / 2, this, ARRIVED, burst);
  }

  handle(kind: number, payload: unknown): void {
    if (kind === READ || this.#transport === 'tcp') this.#read(payload as Burst);
    else this.#wakeReader(payload as Burst);
  }

  /** QUIC is acknowledged by the browser when it comes to it, TCP by the kernel at once. */
  #wakeReader(burst: Burst): void {
    const { events, client, clientWork, quicPacketMs } = this.#network;
    const workMs = burst.delivered * quicPacketMs;
    const readMs = client.run(events.now, workMs);
    // What the first packet waits for that looks to the sender like a queue.
    burst.firstRttMs += readMs - events.now - workMs;
    if (readMs > events.now) events.append(clientWork, readMs, this, READ, burst);
    else this.#read(burst);
  }

  #read(burst: Burst): void {
    const { events, up } = this.#network;
    const acks = Math.ceil(burst.delivered / PACKETS_PER_ACK);
    const leavesMs = up.serialise(events.now, acks * PACKET[this.#transport].ackBytes);
    this.#sender!.expectAck(burst, leavesMs + this.#oneWayUpMs);
    this.#receive(burst.segments, burst.whole ? events.now - burst.spanMs : events.now);
  }

  /** @param firstMs when the first byte arrived */
  #receive(segments: SegmentQueue, firstMs: number): void {
    const { first } = segments;
    if (first !== null && first.stream.firstByteMs < 0 && first.offset === first.stream.order.delivered) {
      first.stream.firstByteMs = firstMs;
    }
    for (let segment = segments.shift(); segment !== null; segment = segments.shift()) {
      const { order } = segment.stream;
      if (segment.offset === order.delivered) {
        this.#handUp(segment);
        if (order.holds) this.#release(segment.stream);
      } else {
        segment.heldSinceMs = this.#network.events.now;
        order.hold(segment);
      }
    }
  }

  /** Hands up what waited behind bytes of `of` that have now arrived. */
  #release(of: Stream): void {
    const { events, trace } = this.#network;
    const { order } = of;
    const heldMs = new Map<Stream, number>();
    for (let next = order.release(); next !== null; next = order.release()) {
      const { stream } = next;
      const waitedMs = events.now - next.heldSinceMs;
      const before = heldMs.get(stream);
      if (before === undefined && stream !== of) {
        this.#counters.blockedStreams++;
        this.#counters.blockedMs += waitedMs;
      }
      heldMs.set(stream, Math.max(before ?? 0, waitedMs));
      this.#handUp(next);
    }
    if (heldMs.size > 0) trace?.released(this.#connection, of, heldMs, events.now);
  }

  #handUp(segment: Segment): void {
    const { stream } = segment;
    stream.order.delivered += segment.bytes;
    if (stream.firstByteMs < 0) stream.firstByteMs = this.#network.events.now;
    stream.received += segment.bytes;
    stream.owner.onData(stream);
  }
}
