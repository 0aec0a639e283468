import { type Burst, takeLosses } from './burst.ts';
import type { CongestionControl, Transport } from './congestion-control.ts';
import type { EventHandler } from './event-queue.ts';
import { HyStart } from './hystart.ts';
import type { LossProcess } from './loss.ts';
import { LossRecovery } from './loss-recovery.ts';
import type { Network } from './network.ts';
import { Pacer, QUIC_PACING_GAIN } from './pacer.ts';
import { PACKET, PACKETS_PER_ACK, type PacketFormat } from './packet.ts';
import { receiveWindow } from './receive-window.ts';
import type { Receiver } from './receiver.ts';
import type { RetransmissionTimer } from './retransmission-timer.ts';
import type { RttEstimator } from './rtt-estimator.ts';
import type { SegmentQueue, Stream } from './stream.ts';
import type { TransportCounters } from './transport-counters.ts';

/** What passes the bottleneck, or is paced, in this share of a round trip travels as one burst. */
const BURST_SHARE = 1 / 8;
/** Acknowledgements that follow others within this share of a round trip are taken with them. */
const JOIN_SHARE = 1 / 16;
/** The same of a response that is waited for in parts, and of its flight. */
const PART_SHARE = 1 / 16;
const PARTS_PER_FLIGHT = 8;
/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

const RESPONSE_READY = 0;
const ACKNOWLEDGED = 1;
const PACED = 2;
const TIMER = 3;

/** Decides whose bytes the server sends next. */
export interface ResponseSource {
  readonly empty: boolean;
  /** The response whose bytes are next, null when there are none. */
  readonly next: Stream | null;
  /** Responses of which something is left to send. */
  readonly streams: number;
  add(stream: Stream): void;
  /** Takes up to `room` bytes of the next response from its `unsent`; returns how many. */
  take(room: number, packetBytes: number): number;
}

/** What a sender works with. */
export interface SenderParts {
  connection: object;
  transport: Transport;
  /** Round trip without queueing. */
  baseRttMs: number;
  control: CongestionControl;
  source: ResponseSource;
  receiver: Receiver;
  loss: LossProcess;
  rtt: RttEstimator;
  timer: RetransmissionTimer;
  counters: TransportCounters;
}

/**
 * The server's side of a connection: sends responses under congestion control through the shared
 * bottleneck and repairs losses.
 *
 * A flight travels as bursts; a burst's acknowledgement releases the next one, so windows, queue and
 * rates follow the clock of the bottleneck as they do packet by packet, at a fraction of the events.
 * An acknowledgement that nothing waits for is looked at when next something is to be sent.
 */
export class Sender implements EventHandler {
  readonly #network: Network;
  readonly #parts: SenderParts;
  readonly #control: CongestionControl;
  readonly #source: ResponseSource;
  readonly #packet: PacketFormat;
  readonly #hystart: HyStart;
  readonly #recovery: LossRecovery;
  readonly #pacer = new Pacer();
  #paceScheduled = false;
  /** Packets in flight, and those that will arrive: when there are none, only a timer helps. */
  #inFlight = 0;
  #arriving = 0;
  #nextBurst = 0;
  #lastSentMs = 0;
  /** The latest timer; those before it are void. */
  #timerId = 0;
  /** Bursts whose acknowledgements are under way, in order. */
  #firstAck: Burst | null = null;
  #lastAck: Burst | null = null;
  #needsAck = false;
  #ackScheduled = false;
  // The current round trip.
  #roundEnd = 0;
  #roundMaxInFlight = 0;
  #lastRoundMaxInFlight = 0;
  /** Most responses that were being sent at one time. */
  #roundStreams = 0;
  #windowLimited = false;
  /** Packets that the client lets be under way. */
  #receiveWindow = Number.POSITIVE_INFINITY;

  constructor(network: Network, parts: SenderParts) {
    this.#network = network;
    this.#parts = parts;
    this.#control = parts.control;
    this.#source = parts.source;
    this.#packet = PACKET[parts.transport];
    this.#hystart = new HyStart(parts.transport);
    this.#recovery = new LossRecovery(parts.control);
  }

  /** The server has the request and answers it after its think time. */
  respond(stream: Stream, requestArrivesMs: number): void {
    this.#network.events.schedule(requestArrivesMs + stream.thinkMs, this, RESPONSE_READY, stream);
  }

  /** A burst has arrived; the last of its acknowledgements will be here at `atMs`. */
  expectAck(burst: Burst, atMs: number): void {
    burst.ackMs = atMs;
    burst.firstAckMs = atMs - burst.ackGapMs * (Math.ceil(burst.delivered / PACKETS_PER_ACK) - 1);
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
        if (payload === this.#timerId && this.#timeOut()) this.#send(0);
        break;
    }
  }

  #scheduleAck(): void {
    if (this.#ackScheduled || this.#firstAck === null) return;
    this.#ackScheduled = true;
    this.#network.events.schedule(this.#noticedMs(this.#firstAck), this, ACKNOWLEDGED);
  }

  /** When acknowledgements of a burst make room; what is missing shows with the last of them. */
  #noticedMs(burst: Burst): number {
    return burst.whole ? burst.firstAckMs : burst.ackMs;
  }

  /**
   * Takes the acknowledgements whose first one has come, and those that follow closely; returns how long
   * they go on coming.
   */
  #takeFirstAcks(): number {
    const { now } = this.#network.events;
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

  /** Takes what has been acknowledged. */
  #takeAcks(): void {
    const { now } = this.#network.events;
    for (let burst = this.#firstAck; burst !== null && burst.ackMs <= now; burst = this.#firstAck) {
      this.#acknowledgeFirst(burst);
    }
  }

  #acknowledgeFirst(burst: Burst): void {
    this.#firstAck = burst.next;
    this.#acknowledge(burst);
    this.#network.bursts.free(burst);
  }

  #acknowledge(burst: Burst): void {
    const { rtt, timer } = this.#parts;
    const packets = burst.delivered * burst.share;
    this.#inFlight -= packets;
    this.#arriving -= burst.delivered;
    timer.inARow = 0;
    rtt.sample(burst.ackMs - burst.sentMs, burst.firstRttMs);
    const firstOfRound = burst.index >= this.#roundEnd;
    if (firstOfRound) this.#startRound(burst.firstAckMs);
    if (this.#recovery.isOver(burst.index)) {
      this.#recovery.credit = 0;
      this.#grow(burst, packets, firstOfRound);
    } else {
      this.#recovery.earn(burst.delivered);
    }
    if (this.#recovery.unnoticed) {
      this.#inFlight -= this.#recovery.onAck(burst.index, this.#nextBurst, burst.ackMs);
    }
  }

  #startRound(nowMs: number): void {
    this.#roundEnd = this.#nextBurst;
    this.#lastRoundMaxInFlight = this.#roundMaxInFlight;
    this.#roundMaxInFlight = this.#inFlight;
    this.#roundStreams = 0;
    this.#hystart.startRound(nowMs);
  }

  #grow(burst: Burst, packets: number, firstOfRound: boolean): void {
    const { firstAckMs, ackMs, ackGapMs } = burst;
    const control = this.#control;
    const { smoothedMs, minMs } = this.#parts.rtt;
    const used = Math.max(this.#roundMaxInFlight, this.#lastRoundMaxInFlight);
    // Linux counts a slow-start window as used from half on: what it lets out next fills it.
    const limited = this.#windowLimited || (control.slowStart && control.window < 2 * used);
    control.onAck(packets, ackMs, smoothedMs, minMs, limited);
    if (!control.slowStart) return;
    const { window } = control;
    if (this.#hystart.exits(ackMs, firstAckMs, ackGapMs, burst.firstRttMs, minMs, window, firstOfRound)) {
      control.leaveSlowStart();
    }
  }

  /** @param spreadMs how long the acknowledgements that make room go on coming */
  #send(spreadMs: number): void {
    const { now } = this.#network.events;
    const recovery = this.#recovery;
    if (this.#inFlight < TINY && this.#nextBurst > 0) {
      const timeouts = Math.floor((now - this.#lastSentMs) / this.#parts.timer.timeoutMs());
      if (timeouts > 0) this.#control.onIdle(timeouts);
    }
    this.#windowLimited = false;
    this.#roundStreams = Math.max(this.#roundStreams, this.#source.streams);
    this.#receiveWindow = receiveWindow(this.#parts.transport, this.#roundStreams);
    let full = false;
    let room = this.#room();
    const gapMs = spreadMs / Math.max(1, room);
    let atMs = now;
    while (recovery.resend.first !== null || !this.#source.empty) {
      if (room < 1) {
        full = true;
        // A window that the receiver leaves unused does not grow (RFC 9438 section 5.8).
        this.#windowLimited = this.#control.window <= this.#receiveWindow;
        break;
      }
      const packets = this.#paced(Math.min(room, this.#burstPackets()));
      if (packets < 1) break;
      atMs = this.#sendBurst(packets, atMs, gapMs);
      room = this.#room();
    }
    if (this.#arriving === 0 && recovery.unnoticed) this.#armTimer();
    this.#needsAck = full || recovery.unnoticed;
    if (this.#needsAck) this.#scheduleAck();
  }

  /** Packets that the window, or a recovery, lets go. */
  #room(): number {
    const window = Math.min(this.#control.window, this.#receiveWindow);
    return Math.floor(Math.max(window - this.#inFlight, this.#recovery.credit) + TINY);
  }

  #burstPackets(): number {
    const { next } = this.#source;
    const { payloadBytes } = this.#packet;
    const roundTrip = (this.#network.down.bytesPerMs * this.#parts.baseRttMs) / payloadBytes;
    const inParts = next !== null && next.responseBytes - next.unsent < next.inPartsBytes;
    const most = inParts
      ? Math.max(this.#control.window / PARTS_PER_FLIGHT, roundTrip * PART_SHARE)
      : roundTrip * BURST_SHARE;
    return Math.max(this.#network.leastBurst, Math.ceil(most));
  }

  /** Of packets, those that the pacer lets go as one burst; when none, schedules the time at which it will. */
  #paced(packets: number): number {
    const rate = this.#paceRate();
    if (rate === null) return packets;
    const { events } = this.#network;
    this.#pacer.refill(rate, events.now);
    const allowed = this.#pacer.allowed(this.#parts.baseRttMs * BURST_SHARE, rate);
    if (allowed < 1 && !this.#paceScheduled) {
      this.#paceScheduled = true;
      events.schedule(this.#pacer.nextMs(rate), this, PACED);
    }
    return Math.min(packets, allowed);
  }

  /** Packets a millisecond; null when the transport does not pace. */
  #paceRate(): number | null {
    const { paceRate, window } = this.#control;
    if (paceRate !== null) return paceRate;
    const { transport, rtt } = this.#parts;
    if (transport === 'tcp' || rtt.smoothedMs === 0) return null;
    return (QUIC_PACING_GAIN * window) / rtt.smoothedMs;
  }

  /**
   * Sends up to `most` packets, one each `gapMs` from `startMs` on or slower where it is paced.
   *
   * @returns when the last one leaves
   */
  #sendBurst(most: number, startMs: number, gapMs: number): number {
    const { events, bursts, down, udpPolicer, trace } = this.#network;
    const { connection, transport, baseRttMs, receiver, loss, counters } = this.#parts;
    const { payloadBytes, overheadBytes } = this.#packet;
    const burst = bursts.create();
    const bytes = this.#fill(burst.segments, most * payloadBytes);
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
    const lost = admitted > 0 ? loss.lostOf(admitted) : null;
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
    this.#lastSentMs = endMs;
    this.#inFlight += packets * burst.share;
    this.#arriving += delivered;
    this.#recovery.spend(packets);
    if (this.#inFlight > this.#roundMaxInFlight) this.#roundMaxInFlight = this.#inFlight;
    if (delivered > 0) receiver.expect(burst, bytes, leavesMs, this);
    return endMs;
  }

  /** Fills a burst, first with what is to be sent again; returns the bytes in it. */
  #fill(segments: SegmentQueue, room: number): number {
    const source = this.#source;
    let bytes = 0;
    while (bytes < room) {
      let segment = this.#recovery.resend.shiftBytes(room - bytes);
      if (segment === null) {
        const stream = source.next;
        if (stream === null) break;
        const taken = source.take(room - bytes, this.#packet.payloadBytes);
        segment = this.#network.segments.create(stream, stream.order.sent, taken, stream.unsent === 0);
        stream.order.sent += taken;
      }
      segments.push(segment);
      bytes += segment.bytes;
    }
    return bytes;
  }

  #armTimer(): void {
    const { events } = this.#network;
    events.schedule(events.now + this.#parts.timer.waitMs(this.#inFlight), this, TIMER, ++this.#timerId);
  }

  /** Whether the timer that ran out is of use: something sent since may yet be acknowledged and show the gap. */
  #timeOut(): boolean {
    if (this.#arriving > 0 || !this.#recovery.unnoticed) return false;
    const { events, trace } = this.#network;
    const { connection, timer, counters } = this.#parts;
    counters.timeouts++;
    trace?.timeout(connection, events.now);
    this.#inFlight -= this.#recovery.onTimer(this.#nextBurst, events.now);
    if (timer.inARow++ > 0) this.#control.onTimeout(events.now);
    return true;
  }
}
