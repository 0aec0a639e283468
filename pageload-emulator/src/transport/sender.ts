import { type PacketFormat, TINY } from '../network/packet.ts';
import { AckClock } from './ack-clock.ts';
import { type Burst, takeLosses } from './burst.ts';
import { BURST_SHARE, BurstSize } from './burst-size.ts';
import type { CongestionAlgorithm } from './congestion-control/congestion-control.ts';
import { HyStart } from './congestion-control/hystart.ts';
import type { ConnectionState } from './connection-state.ts';
import { DeliveryRate } from './delivery-rate.ts';
import type { EventHandler } from './event-queue.ts';
import type { LossRecovery } from './loss-recovery.ts';
import { Pacer } from './pacer.ts';
import type { BottleneckPath, Passage } from './path/bottleneck-path.ts';
import { QuicRecovery } from './quic-recovery.ts';
import { receiveWindow } from './receive-window.ts';
import type { AckListener, Receiver } from './receiver.ts';
import { RoundTracker } from './round-tracker.ts';
import type { SimulationContext } from './simulation-context.ts';
import { type SendWindow, SocketBuffer } from './socket-buffer.ts';
import type { ResponseSource, SegmentQueue, Stream } from './stream.ts';
import { TcpRecovery } from './tcp-recovery.ts';

const RESPONSE_READY = 0;
const ACKNOWLEDGED = 1;
const PACED = 2;
const TIMER = 3;

/** A response that its server makes slowly comes in parts of about this size, but not in fewer or more than these. */
const PART_BYTES = 16_384;
const MIN_PARTS = 2;
const MAX_PARTS = 32;

/** The parts and settings of a sender. */
interface SenderParts {
  control: CongestionAlgorithm;
  source: ResponseSource;
  receiver: Receiver;
  /** Path rate that the server assumes, bits per second; undefined without such an assumption. */
  startBps: number | undefined;
}

/**
 * The server's side of a connection: sends responses under congestion control through the shared
 * bottleneck and repairs losses.
 *
 * A flight travels as bursts, and the acknowledgement of one burst releases the next. So windows, queue and rates follow the
 * clock of the bottleneck as they do packet by packet, at a fraction of the events. An acknowledgement that nothing waits for
 * is processed when the next bytes are to be sent.
 */
export class Sender implements EventHandler, AckListener, SendWindow {
  readonly #context: SimulationContext;
  readonly #connection: ConnectionState;
  readonly #control: CongestionAlgorithm;
  readonly #source: ResponseSource;
  readonly #packet: PacketFormat;
  readonly #receiver: Receiver;
  readonly #path: BottleneckPath;
  readonly #burstSize: BurstSize;
  readonly #acks: AckClock;
  readonly #rounds = new RoundTracker();
  readonly #hystart: HyStart;
  readonly #recovery: LossRecovery;
  readonly #pacer: Pacer;
  /** Null unless the control uses its samples. */
  readonly #rate: DeliveryRate | null;
  #paceScheduled = false;
  /** Packets in flight as the sender counts them. */
  #inFlight = 0;
  /** Bytes sent for the first time, in the byte order used last: over TCP, the connection's. */
  #sentBytes = 0;
  #lastSentMs = 0;
  /** The current timer; earlier ones are void. */
  #timerId = 0;
  /** Whether the congestion window, not the application or the client, limited what was sent last. */
  #windowLimited = false;

  constructor(
    context: SimulationContext,
    connection: ConnectionState,
    { control, source, receiver, startBps }: SenderParts,
  ) {
    const { transport, packet, baseRttMs, rtt, timer } = connection;
    this.#context = context;
    this.#connection = connection;
    this.#control = control;
    this.#source = transport === 'tcp' ? new SocketBuffer(source, this) : source;
    this.#packet = packet;
    this.#receiver = receiver;
    this.#path = context.path.bursts[transport];
    const roundTrip = (context.path.down.bytesPerMs * baseRttMs) / packet.payloadBytes;
    this.#burstSize = new BurstSize(roundTrip, context.minBurst);
    this.#acks = new AckClock(context.events, this, ACKNOWLEDGED, baseRttMs);
    this.#hystart = new HyStart(transport);
    this.#recovery = transport === 'tcp' ? new TcpRecovery(control, timer) : new QuicRecovery(control, timer);
    this.#pacer = new Pacer(transport, control, rtt);
    this.#rate = control.rateSamples ? new DeliveryRate() : null;
    const rttMs = rtt.smoothedMs || baseRttMs;
    if (startBps !== undefined) this.#startAt(startBps, rttMs);
    control.onOpen?.(rttMs);
  }

  get windowBytes(): number {
    return this.#control.window * this.#packet.payloadBytes;
  }

  get inFlightBytes(): number {
    return this.#inFlight * this.#packet.payloadBytes;
  }

  /** Begins at a given rate, with a window of rate × round trip, without slow start (Rüth et al., "Blitz-starting QUIC connections", 2019). */
  #startAt(bps: number, rttMs: number): void {
    const packetsPerMs = bps / 8_000 / (this.#packet.payloadBytes + this.#packet.overheadBytes);
    this.#pacer.startRate = packetsPerMs;
    this.#control.window = Math.max(2, packetsPerMs * rttMs);
    this.#control.leaveSlowStart();
  }

  /** Schedules the response for the server's think time after the request's arrival. */
  respond(stream: Stream, requestArrivesMs: number): void {
    this.#context.events.schedule(requestArrivesMs + stream.thinkMs, this, RESPONSE_READY, stream);
  }

  /** Makes the next part of a response: all of it, unless its server takes its time. */
  #makePart(stream: Stream): void {
    const { responseBytes, bodyMs } = stream;
    const partBytes = bodyMs > 0 ? sizeOfPart(responseBytes) : responseBytes;
    const bytes = Math.min(stream.unmade, partBytes);
    const waits = stream.unwritten > 0;
    stream.unmade -= bytes;
    stream.unwritten += bytes;
    if (!waits) this.#source.add(stream);
    if (stream.unmade === 0) return;
    const { events } = this.#context;
    const intervals = Math.ceil(responseBytes / partBytes) - 1;
    events.schedule(events.now + bodyMs / intervals, this, RESPONSE_READY, stream);
  }

  onAcksLost(burst: Burst): void {
    this.#processArrivedAcks();
    this.#acks.arriving -= burst.delivered;
    if (this.#acks.isStalled) this.#armTimer();
  }

  onAckScheduled(burst: Burst, atMs: number): void {
    this.#acks.add(burst, atMs);
  }

  handle(kind: number, payload: unknown): void {
    switch (kind) {
      case RESPONSE_READY:
        this.#processArrivedAcks();
        this.#makePart(payload as Stream);
        this.#send(0);
        break;
      case ACKNOWLEDGED:
        this.#acks.wake();
        this.#send(this.#processNoticedAcks());
        break;
      case PACED:
        this.#paceScheduled = false;
        this.#processArrivedAcks();
        this.#send(0);
        break;
      case TIMER:
        if (payload !== this.#timerId || !this.#timeOut()) break;
        this.#send(0);
        // If no packet is missing, the acknowledgement was lost: a retransmission makes the client repeat it.
        if (this.#acks.arriving === 0) this.#sendAgain();
        break;
    }
  }

  #processArrivedAcks(): void {
    const acks = this.#acks;
    for (let burst = acks.takeArrived(); burst !== null; burst = acks.takeArrived()) this.#acknowledge(burst);
  }

  /**
   * Processes the bursts whose first acknowledgement has arrived, and those that follow closely; returns for how long their
   * acknowledgements continue to arrive, milliseconds.
   */
  #processNoticedAcks(): number {
    const { now } = this.#context.events;
    let untilMs = now;
    for (;;) {
      const burst = this.#acks.takeNoticed(untilMs, !this.#recovery.unnoticed);
      if (burst === null) return untilMs - now;
      untilMs = Math.max(untilMs, burst.ackMs);
      this.#acknowledge(burst);
    }
  }

  #acknowledge(burst: Burst): void {
    const { rtt } = this.#connection;
    const { ack } = this.#acks;
    this.#inFlight -= ack.packets;
    this.#pacer.startRate = 0;
    if (!burst.allAcksLost) rtt.sample(burst.ackMs - burst.sentMs, burst.firstRttMs);
    if (this.#rounds.onAck(burst, this.#inFlight)) this.#hystart.startRound(burst.firstAckMs);
    const lost = this.#recovery.onAck(burst, ack.packets, this.#inFlight, this.#rounds.nextBurst);
    this.#inFlight -= lost;
    ack.minRttMs = rtt.minMs;
    if (this.#rate !== null) {
      this.#rate.sample(burst, ack.packets, ack);
      ack.rttMs = burst.firstRttMs;
      ack.inFlight = this.#inFlight;
      ack.lost = lost;
      this.#control.onAck(ack);
    } else if (this.#recovery.mayGrow(burst)) {
      this.#grow(burst);
    }
    this.#context.bursts.free(burst);
  }

  #grow(burst: Burst): void {
    const control = this.#control;
    const { ack } = this.#acks;
    ack.windowLimited = this.#windowLimited || (control.slowStart && this.#rounds.isHalfUsed(control.window));
    control.onAck(ack);
    if (control.slowStart && this.#hystart.exits(burst, ack.minRttMs, control.window)) {
      control.leaveSlowStart();
    }
  }

  /**
   * Sends as much as windows and pacing allow, then waits for an acknowledgement, the pacer or a timer.
   *
   * @param spreadMs for how long the acknowledgements that open the window continue to arrive
   */
  #send(spreadMs: number): void {
    const acks = this.#acks;
    this.#restartAfterIdleness();
    const isFull = this.#sendBursts(spreadMs);
    const { unnoticed } = this.#recovery;
    if (acks.arriving === 0 && (isFull || unnoticed)) this.#armTimer();
    if (!isFull && !this.#paceScheduled) this.#rate?.limitByApplication(this.#inFlight);
    acks.await(isFull || unnoticed || this.#rate !== null);
  }

  #restartAfterIdleness(): void {
    if (this.#inFlight >= TINY || this.#rounds.nextBurst === 0) return;
    const idleMs = this.#context.events.now - this.#lastSentMs;
    const timeouts = Math.floor(idleMs / this.#connection.timer.timeoutMs());
    if (timeouts > 0) this.#control.onIdle(timeouts);
  }

  /** Sends bursts while there is something to send; returns whether a window, not the pacer, ended that. */
  #sendBursts(spreadMs: number): boolean {
    const recovery = this.#recovery;
    const { transport } = this.#connection;
    const maxInFlight = receiveWindow(transport, this.#rounds.noteStreams(this.#source.streams));
    this.#windowLimited = false;
    let room = recovery.room(this.#inFlight, maxInFlight);
    const gapMs = spreadMs / Math.max(1, room);
    let atMs = this.#context.events.now;
    while (recovery.resend.first !== null || !this.#source.empty) {
      if (room < 1) {
        // A congestion window beyond the receive window is unused and does not grow (RFC 9438 section 5.8).
        this.#windowLimited = this.#control.window <= maxInFlight;
        return true;
      }
      const size = this.#burstSize.packets(this.#source.next, this.#control.window);
      const packets = this.#pace(Math.min(room, size));
      if (packets < 1) return false;
      atMs = this.#sendBurst(packets, atMs, gapMs);
      room = recovery.room(this.#inFlight, maxInFlight);
    }
    return false;
  }

  /** Limits a burst to what the pacer allows; when that is none of it, schedules the time of the next packet. */
  #pace(packets: number): number {
    const { events } = this.#context;
    const allowed = this.#pacer.limit(packets, events.now, this.#connection.baseRttMs * BURST_SHARE);
    if (allowed < 1 && !this.#paceScheduled) {
      this.#paceScheduled = true;
      events.schedule(this.#pacer.nextMs, this, PACED);
    }
    return allowed;
  }

  /**
   * Sends up to `maxPackets`, one each `gapMs` from `startMs` on, or slower when paced.
   *
   * @returns when the last one leaves the sender
   */
  #sendBurst(maxPackets: number, startMs: number, gapMs: number): number {
    const { payloadBytes, overheadBytes } = this.#packet;
    const burst = this.#context.bursts.create();
    const bytes = this.#fill(burst.segments, maxPackets * payloadBytes);
    const packets = Math.max(1, Math.ceil(bytes / payloadBytes));
    const share = this.#connection.transport === 'quic' ? bytes / (packets * payloadBytes) : 1;
    const spreadMs = Math.max(packets * gapMs, this.#pacer.spend(packets * share));
    const passage = this.#path.send(startMs, spreadMs, packets, bytes / packets + overheadBytes);
    burst.index = this.#rounds.nextBurst++;
    burst.sentMs = startMs + spreadMs;
    burst.packets = packets;
    burst.delivered = passage.packets;
    burst.share = share;
    if (burst.delivered < packets) this.#noteLosses(burst, passage);
    this.#rate?.stamp(burst, this.#inFlight < TINY);
    this.#lastSentMs = burst.sentMs;
    this.#inFlight += packets * share;
    this.#recovery.onSent(packets, this.#sentBytes);
    this.#rounds.onSent(this.#inFlight);
    if (burst.delivered > 0) this.#deliver(burst, bytes, passage);
    return burst.sentMs;
  }

  #noteLosses(burst: Burst, { policed, queueDrops, lost }: Passage): void {
    const { events, trace } = this.#context;
    const { id, counters } = this.#connection;
    counters.policed += policed;
    counters.queueDrops += queueDrops;
    counters.lost += lost?.length ?? 0;
    const admitted = burst.packets - policed - queueDrops;
    this.#recovery.add(takeLosses(burst, admitted, lost ?? [], this.#packet.payloadBytes));
    if (trace === null) return;
    if (policed > 0) trace.lost(id, policed, 'policed', events.now);
    if (queueDrops > 0) trace.lost(id, queueDrops, 'queue', events.now);
    if (lost !== null) trace.lost(id, lost.length, 'random', events.now);
  }

  /** Hands the packets that leave the bottleneck to the client. @param bytes response bytes in the burst */
  #deliver(burst: Burst, bytes: number, { startMs, firstLeavesMs, leavesMs }: Passage): void {
    burst.firstRttMs = firstLeavesMs - startMs + this.#connection.baseRttMs;
    burst.spanMs = leavesMs - firstLeavesMs;
    this.#acks.arriving += burst.delivered;
    this.#receiver.expect(burst, bytes, leavesMs, this);
  }

  /** Retransmits a packet that the receiver already has. */
  #sendAgain(): void {
    const { events, bursts, path } = this.#context;
    const packetBytes = this.#packet.payloadBytes + this.#packet.overheadBytes;
    this.#lastSentMs = events.now;
    const passage = path.repeats[this.#connection.transport].send(events.now, 0, 1, packetBytes);
    if (passage.packets === 0) {
      this.#armTimer();
      return;
    }
    const burst = bursts.create();
    burst.index = this.#rounds.nextBurst++;
    burst.sentMs = events.now;
    burst.packets = 1;
    burst.delivered = 1;
    burst.share = 0;
    this.#deliver(burst, 0, passage);
  }

  /** Fills a burst, retransmissions first; returns its bytes. */
  #fill(segments: SegmentQueue, room: number): number {
    const source = this.#source;
    let bytes = 0;
    while (bytes < room) {
      let segment = this.#recovery.resend.shiftBytes(room - bytes);
      if (segment === null) {
        const stream = source.next;
        if (stream === null) break;
        const taken = source.take(room - bytes, this.#packet.payloadBytes);
        stream.unsent -= taken;
        segment = this.#context.segments.create(stream, stream.order.sent, taken, stream.unsent === 0);
        stream.order.sent += taken;
        this.#sentBytes = stream.order.sent;
      }
      segments.push(segment);
      bytes += segment.bytes;
    }
    return bytes;
  }

  #armTimer(): void {
    // An acknowledgement restarts TCP's timer; QUIC's restarts only when packets are sent (RFC 9002 section 6.2.1).
    const lastAckMs = this.#connection.transport === 'tcp' ? this.#acks.ack.atMs : 0;
    const sinceMs = Math.max(this.#lastSentMs, lastAckMs);
    const waitMs = this.#recovery.waitMs(this.#inFlight);
    this.#context.events.schedule(sinceMs + waitMs, this, TIMER, ++this.#timerId);
  }

  /** Reacts to the timer unless an acknowledgement is still on its way, which would show the losses; returns whether it did. */
  #timeOut(): boolean {
    if (this.#acks.arriving > 0) return false;
    const { events, trace } = this.#context;
    const { id, counters } = this.#connection;
    counters.timeouts++;
    trace?.timeout(id, events.now);
    this.#path.settle();
    // The acknowledgements' way back has been as quiet.
    this.#context.path.loss[this.#connection.transport].up.settle();
    this.#inFlight -= this.#recovery.onTimer(events.now, !this.#source.empty);
    return true;
  }
}

function sizeOfPart(responseBytes: number): number {
  const parts = Math.max(MIN_PARTS, Math.min(MAX_PARTS, responseBytes / PART_BYTES));
  return Math.ceil(responseBytes / parts);
}
