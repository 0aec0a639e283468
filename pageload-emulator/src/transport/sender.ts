import type { Transport } from '../network/packet.ts';
import { PACKET, PACKETS_PER_ACK, type PacketFormat } from '../network/packet.ts';
import { type Burst, takeLosses } from './burst.ts';
import type { Acknowledged, CongestionControl } from './congestion-control.ts';
import { DeliveryRate } from './delivery-rate.ts';
import type { EventHandler } from './event-queue.ts';
import { type AckTrain, HyStart } from './hystart.ts';
import type { LossProcess } from './loss.ts';
import type { LossRecovery } from './loss-recovery.ts';
import { Pacer, QUIC_PACING_GAIN } from './pacer.ts';
import { QuicRecovery } from './quic-recovery.ts';
import { receiveWindow } from './receive-window.ts';
import type { Acknowledgee, Receiver } from './receiver.ts';
import type { ResponseSource } from './response-source.ts';
import type { RetransmissionTimer } from './retransmission-timer.ts';
import type { RttEstimator } from './rtt-estimator.ts';
import type { SimulationContext } from './simulation-context.ts';
import { type SendWindow, SocketBuffer } from './socket-buffer.ts';
import type { SegmentQueue, Stream } from './stream.ts';
import { TcpRecovery } from './tcp-recovery.ts';
import type { TransportCounters } from './transport-counters.ts';

/** Packets that pass the bottleneck, or the pacer, within this share of a round trip travel as one burst. */
const BURST_SHARE = 1 / 16;
/** Acknowledgements within this share of a round trip after others are processed with them. */
const JOIN_SHARE = 1 / 32;
/** Like `BURST_SHARE`, for a response that other activities wait for in parts; and the least number of bursts in its flight. */
const PART_SHARE = 1 / 16;
const PARTS_PER_FLIGHT = 8;
const MIN_PART = 2;
/** Fractions of packets add up with rounding errors: less than this counts as zero. */
const TINY = 1e-6;

const RESPONSE_READY = 0;
const ACKNOWLEDGED = 1;
const PACED = 2;
const TIMER = 3;

/** Reused for every acknowledgement: callees do not keep them. */
const ACKS: AckTrain = { firstMs: 0, lastMs: 0, gapMs: 0, count: 0, rttMs: 0 };
const ACK: Acknowledged = {
  atMs: 0,
  packets: 0,
  minRttMs: 0,
  windowLimited: true,
  rttMs: 0,
  inFlight: 0,
  lost: 0,
  delivered: 0,
  deliveredWhenSent: 0,
  rate: 0,
  appLimited: false,
};

/** The parts and settings of a sender. */
export interface SenderParts {
  connection: object;
  transport: Transport;
  /** Round trip without queueing, milliseconds. */
  baseRttMs: number;
  control: CongestionControl;
  source: ResponseSource;
  receiver: Receiver;
  rtt: RttEstimator;
  timer: RetransmissionTimer;
  counters: TransportCounters;
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
export class Sender implements EventHandler, Acknowledgee, SendWindow {
  readonly #context: SimulationContext;
  readonly #parts: SenderParts;
  readonly #control: CongestionControl;
  readonly #source: ResponseSource;
  readonly #packet: PacketFormat;
  readonly #loss: LossProcess;
  /** Packets that the bottleneck carries in a round trip. */
  readonly #roundTrip: number;
  /** Packets of a burst of a response that no activity waits for in parts. */
  readonly #usualBurst: number;
  readonly #hystart: HyStart;
  readonly #recovery: LossRecovery;
  readonly #pacer: Pacer;
  /** Null unless the control uses its samples. */
  readonly #rate: DeliveryRate | null;
  #paceScheduled = false;
  /** Packets in flight as the sender counts them. */
  #inFlight = 0;
  /** Packets whose arrival is still to be acknowledged: when there are none, only a timer can continue. */
  #arriving = 0;
  #nextBurst = 0;
  #lastSentMs = 0;
  #lastAckMs = 0;
  /** The current timer; earlier ones are void. */
  #timerId = 0;
  /** Bursts whose acknowledgements are on their way, in order. */
  #firstAck: Burst | null = null;
  #lastAck: Burst | null = null;
  #needsAck = false;
  #ackScheduled = false;
  // The current round trip.
  #roundEnd = 0;
  #roundMaxInFlight = 0;
  #lastRoundMaxInFlight = 0;
  /** Maximum number of responses sent concurrently. */
  #roundStreams = 0;
  #windowLimited = false;
  /** Bytes sent for the first time, in the byte order used last: over TCP, the connection's. */
  #sentBytes = 0;
  /** Pacing rate of the first round trip when the server assumes one; 0 after it. */
  #startRate = 0;
  /** Packets in flight that the client allows. */
  #receiveWindow = Number.POSITIVE_INFINITY;

  constructor(context: SimulationContext, parts: SenderParts) {
    this.#context = context;
    this.#parts = parts;
    this.#control = parts.control;
    this.#source = parts.transport === 'tcp' ? new SocketBuffer(parts.source, this) : parts.source;
    this.#packet = PACKET[parts.transport];
    this.#loss = context.loss[parts.transport].down;
    this.#roundTrip = (context.down.bytesPerMs * parts.baseRttMs) / this.#packet.payloadBytes;
    this.#usualBurst = Math.max(context.minBurst, Math.ceil(this.#roundTrip * BURST_SHARE));
    this.#hystart = new HyStart(parts.transport);
    this.#recovery =
      parts.transport === 'tcp'
        ? new TcpRecovery(parts.control, parts.timer)
        : new QuicRecovery(parts.control, parts.timer);
    this.#pacer = new Pacer(parts.transport);
    this.#rate = parts.control.rateSamples ? new DeliveryRate() : null;
    const rttMs = parts.rtt.smoothedMs || parts.baseRttMs;
    if (parts.startBps !== undefined) this.#startAt(parts.startBps, rttMs);
    this.#control.onOpen?.(rttMs);
  }

  get windowBytes(): number {
    return this.#control.window * this.#packet.payloadBytes;
  }

  get inFlightBytes(): number {
    return this.#inFlight * this.#packet.payloadBytes;
  }

  /** Begins at a given rate, with a window of rate × round trip, without slow start (Rüth et al., "Blitz-starting QUIC connections", 2019). */
  #startAt(bps: number, rttMs: number): void {
    this.#startRate = bps / 8_000 / (this.#packet.payloadBytes + this.#packet.overheadBytes);
    this.#control.window = Math.max(2, this.#startRate * rttMs);
    this.#control.leaveSlowStart();
  }

  /** Schedules the response for the server's think time after the request's arrival. */
  respond(stream: Stream, requestArrivesMs: number): void {
    this.#context.events.schedule(requestArrivesMs + stream.thinkMs, this, RESPONSE_READY, stream);
  }

  missAck(burst: Burst): void {
    this.#takeAcks();
    this.#arriving -= burst.delivered;
    if (this.#arriving === 0 && this.#needsAck) this.#armTimer();
  }

  expectAck(burst: Burst, atMs: number): void {
    burst.ackMs = atMs;
    burst.firstAckMs = burst.unheard
      ? atMs
      : atMs - burst.ackGapMs * (Math.ceil(burst.delivered / PACKETS_PER_ACK) - 1);
    if (this.#firstAck === null) this.#firstAck = burst;
    else this.#lastAck!.next = burst;
    this.#lastAck = burst;
    if (this.#needsAck) this.#scheduleAck();
  }

  handle(kind: number, payload: unknown): void {
    switch (kind) {
      case RESPONSE_READY:
        this.#takeAcks();
        this.#source.add(payload as Stream);
        this.#send(0);
        break;
      case ACKNOWLEDGED:
        this.#ackScheduled = false;
        this.#send(this.#takeFirstAcks());
        break;
      case PACED:
        this.#paceScheduled = false;
        this.#takeAcks();
        this.#send(0);
        break;
      case TIMER:
        if (payload !== this.#timerId || !this.#timeOut()) break;
        this.#send(0);
        // If no packet is missing, the acknowledgement was lost: a retransmission makes the client repeat it.
        if (this.#arriving === 0) this.#sendAgain();
        break;
    }
  }

  #scheduleAck(): void {
    if (this.#ackScheduled || this.#firstAck === null) return;
    this.#ackScheduled = true;
    this.#context.events.schedule(this.#noticedMs(this.#firstAck), this, ACKNOWLEDGED);
  }

  /** When a burst's acknowledgements open the window; losses show only with the last of them. */
  #noticedMs(burst: Burst): number {
    return burst.whole ? burst.firstAckMs : burst.ackMs;
  }

  /**
   * Processes the bursts whose first acknowledgement has arrived, and those that follow closely; returns for how long their
   * acknowledgements continue to arrive, milliseconds.
   */
  #takeFirstAcks(): number {
    const { now } = this.#context.events;
    const { baseRttMs } = this.#parts;
    let untilMs = now;
    for (let burst = this.#firstAck; burst !== null; burst = this.#firstAck) {
      const noticedMs = this.#noticedMs(burst);
      const follows =
        !this.#recovery.unnoticed &&
        noticedMs <= untilMs + JOIN_SHARE * baseRttMs &&
        burst.ackMs <= now + BURST_SHARE * baseRttMs;
      if (noticedMs > now && (untilMs === now || !follows)) break;
      untilMs = Math.max(untilMs, burst.ackMs);
      this.#acknowledgeFirst(burst);
    }
    return untilMs - now;
  }

  /** Processes all acknowledgements that have arrived. */
  #takeAcks(): void {
    const { now } = this.#context.events;
    for (let burst = this.#firstAck; burst !== null && burst.ackMs <= now; burst = this.#firstAck) {
      this.#acknowledgeFirst(burst);
    }
  }

  #acknowledgeFirst(burst: Burst): void {
    this.#firstAck = burst.next;
    this.#acknowledge(burst);
    this.#context.bursts.free(burst);
  }

  #acknowledge(burst: Burst): void {
    const { rtt } = this.#parts;
    const packets = burst.delivered * burst.share;
    this.#inFlight -= packets;
    this.#lastAckMs = burst.ackMs;
    this.#startRate = 0;
    if (!burst.unheard) {
      this.#arriving -= burst.delivered;
      rtt.sample(burst.ackMs - burst.sentMs, burst.firstRttMs);
    }
    if (burst.index >= this.#roundEnd) this.#startRound(burst.firstAckMs);
    const lost = this.#recovery.onAck(burst, packets, this.#inFlight, this.#nextBurst);
    this.#inFlight -= lost;
    const ack = ACK;
    ack.atMs = burst.ackMs;
    ack.packets = packets;
    ack.minRttMs = rtt.minMs;
    if (this.#rate !== null) {
      this.#rate.sample(burst, packets, ack);
      ack.rttMs = burst.firstRttMs;
      ack.inFlight = this.#inFlight;
      ack.lost = lost;
      this.#control.onAck(ack);
    } else if (this.#recovery.mayGrow(burst)) {
      this.#grow(burst);
    }
  }

  #startRound(nowMs: number): void {
    this.#roundEnd = this.#nextBurst;
    this.#lastRoundMaxInFlight = this.#roundMaxInFlight;
    this.#roundMaxInFlight = this.#inFlight;
    this.#roundStreams = 0;
    this.#hystart.startRound(nowMs);
  }

  #grow(burst: Burst): void {
    const control = this.#control;
    const used = Math.max(this.#roundMaxInFlight, this.#lastRoundMaxInFlight);
    // Linux counts a slow-start window as used when at least half of it is in flight.
    ACK.windowLimited = this.#windowLimited || (control.slowStart && control.window < 2 * used);
    control.onAck(ACK);
    if (!control.slowStart) return;
    const acks = ACKS;
    acks.count = Math.max(1, burst.delivered / PACKETS_PER_ACK);
    acks.firstMs = burst.firstAckMs;
    acks.lastMs = burst.ackMs;
    acks.gapMs = burst.ackGapMs;
    acks.rttMs = burst.firstRttMs;
    if (this.#hystart.exits(acks, ACK.minRttMs, control.window)) control.leaveSlowStart();
  }

  /**
   * Sends as much as windows and pacing allow.
   *
   * @param spreadMs for how long the acknowledgements that open the window continue to arrive
   */
  #send(spreadMs: number): void {
    const { now } = this.#context.events;
    const recovery = this.#recovery;
    if (this.#inFlight < TINY && this.#nextBurst > 0) {
      const timeouts = Math.floor((now - this.#lastSentMs) / this.#parts.timer.timeoutMs());
      if (timeouts > 0) this.#control.onIdle(timeouts);
    }
    this.#windowLimited = false;
    this.#roundStreams = Math.max(this.#roundStreams, this.#source.streams);
    this.#receiveWindow = receiveWindow(this.#parts.transport, this.#roundStreams);
    let full = false;
    let room = recovery.room(this.#inFlight, this.#receiveWindow);
    const gapMs = spreadMs / Math.max(1, room);
    let atMs = now;
    while (recovery.resend.first !== null || !this.#source.empty) {
      if (room < 1) {
        full = true;
        // A congestion window beyond the receive window is unused and does not grow (RFC 9438 section 5.8).
        this.#windowLimited = this.#control.window <= this.#receiveWindow;
        break;
      }
      const packets = this.#paced(Math.min(room, this.#burstPackets()));
      if (packets < 1) break;
      atMs = this.#sendBurst(packets, atMs, gapMs);
      room = recovery.room(this.#inFlight, this.#receiveWindow);
    }
    if (this.#arriving === 0 && (full || recovery.unnoticed)) this.#armTimer();
    if (!full && !this.#paceScheduled) this.#rate?.limitByApplication(this.#inFlight);
    this.#needsAck = full || recovery.unnoticed || this.#rate !== null;
    if (this.#needsAck) this.#scheduleAck();
  }

  #burstPackets(): number {
    const { next } = this.#source;
    const inParts = next !== null && next.responseBytes - next.unsent < next.inPartsBytes;
    if (!inParts) return this.#usualBurst;
    const part = Math.max(this.#control.window / PARTS_PER_FLIGHT, this.#roundTrip * PART_SHARE);
    return Math.max(MIN_PART, Math.ceil(part));
  }

  /** Limits a burst to what the pacer allows; when that is nothing, schedules the time of the next packet. */
  #paced(packets: number): number {
    const rate = this.#paceRate();
    if (rate === null) return packets;
    const { events } = this.#context;
    this.#pacer.refill(rate, events.now);
    const allowed = this.#pacer.allowed(this.#parts.baseRttMs * BURST_SHARE, rate);
    if (allowed < 1 && !this.#paceScheduled) {
      this.#paceScheduled = true;
      events.schedule(this.#pacer.nextMs(rate), this, PACED);
    }
    return Math.min(packets, allowed);
  }

  /** Pacing rate, packets a millisecond; null without pacing. */
  #paceRate(): number | null {
    const { paceRate, window } = this.#control;
    if (this.#startRate > 0) return this.#startRate;
    if (paceRate !== null) return paceRate;
    const { transport, rtt } = this.#parts;
    if (transport === 'tcp' || rtt.smoothedMs === 0) return null;
    return (QUIC_PACING_GAIN * window) / rtt.smoothedMs;
  }

  /**
   * Sends up to `maxPackets`, one each `gapMs` from `startMs` on, or slower when paced.
   *
   * @returns when the last one leaves the sender
   */
  #sendBurst(maxPackets: number, startMs: number, gapMs: number): number {
    const { events, bursts, down, udpPolicer, trace } = this.#context;
    const { connection, transport, baseRttMs, receiver, counters } = this.#parts;
    const { payloadBytes, overheadBytes } = this.#packet;
    const burst = bursts.create();
    const bytes = this.#fill(burst.segments, maxPackets * payloadBytes);
    const packets = Math.max(1, Math.ceil(bytes / payloadBytes));
    const packetBytes = bytes / packets + overheadBytes;

    const share = transport === 'quic' ? bytes / (packets * payloadBytes) : 1;
    const paceRate = this.#paceRate();
    const pacedMs = paceRate === null ? 0 : this.#pacer.spend(packets * share, paceRate);
    const spreadMs = Math.max(packets * gapMs, pacedMs);
    const endMs = startMs + spreadMs;

    let passed = packets;
    if (udpPolicer !== null && transport === 'quic') {
      passed = udpPolicer.pass(endMs, packets, packetBytes);
      counters.policed += packets - passed;
    }
    const admitted = down.room(startMs, passed, packetBytes, spreadMs);
    counters.queueDrops += passed - admitted;
    const packetMs = packetBytes / down.bytesPerMs;
    const firstLeavesMs = Math.max(down.busyUntilMs, startMs) + packetMs;
    let leavesMs = firstLeavesMs;
    if (admitted > 0) leavesMs = Math.max(down.serialise(startMs, admitted * packetBytes), endMs + packetMs);
    const lost = admitted > 0 ? this.#loss.lostOf(admitted) : null;
    const delivered = admitted - (lost?.length ?? 0);
    burst.index = this.#nextBurst++;
    burst.sentMs = endMs;
    burst.packets = packets;
    burst.delivered = delivered;
    burst.share = share;
    burst.firstRttMs = firstLeavesMs - startMs + baseRttMs;
    burst.spanMs = leavesMs - firstLeavesMs;
    if (delivered < packets) {
      counters.lost += lost?.length ?? 0;
      this.#recovery.add(takeLosses(burst, admitted, lost ?? [], payloadBytes));
      if (trace !== null) {
        if (passed < packets) trace.lost(connection, packets - passed, 'policed', events.now);
        if (admitted < passed) trace.lost(connection, passed - admitted, 'queue', events.now);
        if (lost !== null) trace.lost(connection, lost.length, 'random', events.now);
      }
    }
    this.#rate?.stamp(burst, this.#inFlight < TINY);
    this.#lastSentMs = endMs;
    this.#inFlight += packets * burst.share;
    this.#arriving += delivered;
    this.#recovery.onSent(packets, this.#sentBytes);
    if (this.#inFlight > this.#roundMaxInFlight) this.#roundMaxInFlight = this.#inFlight;
    if (delivered > 0) receiver.expect(burst, bytes, leavesMs, this);
    return endMs;
  }

  /** Retransmits a packet that the receiver already has. */
  #sendAgain(): void {
    const { events, bursts, down } = this.#context;
    const { baseRttMs, receiver } = this.#parts;
    const packetBytes = this.#packet.payloadBytes + this.#packet.overheadBytes;
    this.#lastSentMs = events.now;
    if (down.room(events.now, 1, packetBytes) === 1) {
      const leavesMs = down.serialise(events.now, packetBytes);
      if (this.#loss.lostOf(1) === null) {
        const burst = bursts.create();
        burst.index = this.#nextBurst++;
        burst.sentMs = events.now;
        burst.packets = 1;
        burst.delivered = 1;
        burst.share = 0;
        burst.firstRttMs = leavesMs - events.now + baseRttMs;
        burst.spanMs = 0;
        this.#arriving++;
        receiver.expect(burst, 0, leavesMs, this);
        return;
      }
    }
    this.#armTimer();
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
    const sinceMs =
      this.#parts.transport === 'tcp' ? Math.max(this.#lastSentMs, this.#lastAckMs) : this.#lastSentMs;
    const waitMs = this.#recovery.waitMs(this.#inFlight);
    this.#context.events.schedule(sinceMs + waitMs, this, TIMER, ++this.#timerId);
  }

  /** Reacts to the timer unless an acknowledgement is still on its way, which would show the losses; returns whether it did. */
  #timeOut(): boolean {
    if (this.#arriving > 0) return false;
    const { events, trace } = this.#context;
    const { connection, counters } = this.#parts;
    counters.timeouts++;
    trace?.timeout(connection, events.now);
    this.#loss.settle();
    this.#inFlight -= this.#recovery.onTimer(events.now, !this.#source.empty);
    return true;
  }
}
