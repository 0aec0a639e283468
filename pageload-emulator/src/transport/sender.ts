import { Burst, takeLosses } from './burst.ts';
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
import { type Segment, SegmentQueue, type Stream } from './stream.ts';
import type { TransportCounters } from './transport-counters.ts';

/** A flight is emulated in about this many bursts, each clocked by the last one's acknowledgements. */
const BURSTS_PER_FLIGHT = 8;
/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

const RESPONSE_READY = 0;
const ACKNOWLEDGED = 1;
const PACED = 2;
const TIMER = 3;

/** Decides whose bytes the server sends next. */
export interface ResponseSource {
  readonly empty: boolean;
  /** Responses of which something is left to send. */
  readonly streams: number;
  add(stream: Stream): void;
  /** Up to `room` bytes of one stream, taken from its `unsent`; null when there are none. */
  take(room: number, packetBytes: number): Segment | null;
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
        break;
      case ACKNOWLEDGED:
        this.#ackScheduled = false;
        this.#takeAcks();
        break;
      case PACED:
        this.#paceScheduled = false;
        this.#takeAcks();
        this.#pacer.refill(this.#paceRate() ?? 0, this.#network.events.now);
        this.#pacer.grant();
        break;
      case TIMER:
        if (payload !== this.#timerId || !this.#timeOut()) return;
        break;
    }
    this.#send();
  }

  #scheduleAck(): void {
    if (this.#ackScheduled || this.#firstAck === null) return;
    this.#ackScheduled = true;
    this.#network.events.schedule(this.#firstAck.ackMs, this, ACKNOWLEDGED);
  }

  #takeAcks(): void {
    const { now } = this.#network.events;
    for (let burst = this.#firstAck; burst !== null && burst.ackMs <= now; burst = burst.next) {
      this.#acknowledge(burst);
      this.#firstAck = burst.next;
    }
  }

  #acknowledge(burst: Burst): void {
    const { rtt, timer } = this.#parts;
    const packets = burst.delivered * burst.share;
    this.#inFlight -= packets;
    this.#arriving -= burst.delivered;
    timer.inARow = 0;
    rtt.sample(burst.ackMs - burst.sentMs, burst.firstRttMs);
    const firstOfRound = burst.index >= this.#roundEnd;
    if (firstOfRound) this.#startRound(burst.ackMs);
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
    const { ackMs, ackGapMs } = burst;
    const control = this.#control;
    const { smoothedMs, minMs } = this.#parts.rtt;
    const used = Math.max(this.#roundMaxInFlight, this.#lastRoundMaxInFlight);
    // Linux counts a slow-start window as used from half on: what it lets out next fills it.
    const limited = this.#windowLimited || (control.slowStart && control.window < 2 * used);
    this.#windowLimited = false;
    control.onAck(packets, ackMs, smoothedMs, minMs, limited);
    if (!control.slowStart) return;
    const firstAckMs = ackMs - ackGapMs * (burst.delivered / PACKETS_PER_ACK - 1);
    const { window } = control;
    if (this.#hystart.exits(ackMs, firstAckMs, ackGapMs, burst.firstRttMs, minMs, window, firstOfRound)) {
      control.leaveSlowStart();
    }
  }

  #send(): void {
    const { now } = this.#network.events;
    const recovery = this.#recovery;
    if (this.#inFlight < TINY && this.#nextBurst > 0) {
      const timeouts = Math.floor((now - this.#lastSentMs) / this.#parts.timer.timeoutMs());
      if (timeouts > 0) this.#control.onIdle(timeouts);
    }
    let full = false;
    this.#roundStreams = Math.max(this.#roundStreams, this.#source.streams);
    const most = receiveWindow(this.#parts.transport, this.#roundStreams);
    while (recovery.resend.first !== null || !this.#source.empty) {
      const { window } = this.#control;
      const room = Math.floor(Math.max(Math.min(window, most) - this.#inFlight, recovery.credit) + TINY);
      if (room < 1) {
        full = true;
        // A window that the receiver leaves unused does not grow (RFC 9438 section 5.8).
        this.#windowLimited = window <= most;
        break;
      }
      const packets = this.#paced(Math.min(room, this.#burstPackets()));
      if (packets < 1) break;
      this.#sendBurst(packets);
    }
    if (this.#arriving === 0 && recovery.unnoticed) this.#armTimer();
    this.#needsAck = full || recovery.unnoticed;
    if (this.#needsAck) this.#scheduleAck();
  }

  #burstPackets(): number {
    const flight = this.#control.window / BURSTS_PER_FLIGHT;
    // What passes the bottleneck in a sixteenth of a round trip is short enough to travel together.
    const short = (this.#network.down.bytesPerMs * this.#parts.baseRttMs) / (16 * this.#packet.payloadBytes);
    return Math.max(this.#network.leastBurst, Math.ceil(Math.max(flight, short)));
  }

  /** Packets that the pacer lets go now; when none, schedules the time at which it will. */
  #paced(packets: number): number {
    const rate = this.#paceRate();
    if (rate === null) return packets;
    const { events } = this.#network;
    this.#pacer.refill(rate, events.now);
    const allowed = Math.min(packets, this.#pacer.allowed);
    if (allowed < 1 && !this.#paceScheduled) {
      this.#paceScheduled = true;
      const enough = Math.max(2, 2 * rate, this.#control.window / (2 * BURSTS_PER_FLIGHT));
      events.schedule(this.#pacer.nextMs(Math.min(enough, packets), rate), this, PACED);
    }
    return allowed;
  }

  /** Packets a millisecond; null when the transport does not pace. */
  #paceRate(): number | null {
    const { paceRate, window } = this.#control;
    if (paceRate !== null) return paceRate;
    const { transport, rtt } = this.#parts;
    if (transport === 'tcp' || rtt.smoothedMs === 0) return null;
    return (QUIC_PACING_GAIN * window) / rtt.smoothedMs;
  }

  #sendBurst(most: number): void {
    const { events, down, udpPolicer, trace } = this.#network;
    const { connection, transport, baseRttMs, receiver, loss, counters } = this.#parts;
    const { payloadBytes, overheadBytes } = this.#packet;
    const segments = new SegmentQueue();
    const bytes = this.#fill(segments, most * payloadBytes);
    const packets = Math.max(1, Math.ceil(bytes / payloadBytes));
    const packetBytes = bytes / packets + overheadBytes;

    let passed = packets;
    if (udpPolicer !== null && transport === 'quic') {
      passed = udpPolicer.pass(events.now, packets, packetBytes);
      counters.policed += packets - passed;
    }
    const admitted = down.room(events.now, passed, packetBytes);
    counters.queueDrops += passed - admitted;
    const firstLeavesMs = Math.max(down.busyUntilMs, events.now) + packetBytes / down.bytesPerMs;
    const leavesMs = admitted > 0 ? down.serialise(events.now, admitted * packetBytes) : 0;
    const lost = admitted > 0 ? loss.lostOf(admitted) : null;
    const delivered = admitted - (lost?.length ?? 0);
    const burst = new Burst(
      this.#nextBurst++,
      events.now,
      packets,
      delivered,
      transport === 'quic' ? bytes / (packets * payloadBytes) : 1,
      segments,
      firstLeavesMs - events.now + baseRttMs,
      (PACKETS_PER_ACK * packetBytes) / down.bytesPerMs,
    );
    if (delivered < packets) {
      counters.lost += lost?.length ?? 0;
      this.#recovery.add(takeLosses(burst, admitted, lost ?? [], payloadBytes));
      if (trace !== null) {
        if (passed < packets) trace.lost(connection, packets - passed, 'policed', events.now);
        if (admitted < passed) trace.lost(connection, passed - admitted, 'queue', events.now);
        if (lost !== null) trace.lost(connection, lost.length, 'random', events.now);
      }
    }
    this.#lastSentMs = events.now;
    this.#inFlight += packets * burst.share;
    this.#arriving += delivered;
    this.#recovery.spend(packets);
    this.#pacer.spend(packets * burst.share);
    if (this.#inFlight > this.#roundMaxInFlight) this.#roundMaxInFlight = this.#inFlight;
    if (delivered > 0) receiver.expect(burst, leavesMs, this);
  }

  /** Fills a burst, first with what is to be sent again; returns the bytes in it. */
  #fill(segments: SegmentQueue, room: number): number {
    let bytes = 0;
    while (bytes < room) {
      let segment = this.#recovery.resend.shiftBytes(room - bytes);
      if (segment === null) {
        segment = this.#source.take(room - bytes, this.#packet.payloadBytes);
        if (segment === null) break;
        segment.offset = segment.stream.order.sent;
        segment.stream.order.sent += segment.bytes;
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
