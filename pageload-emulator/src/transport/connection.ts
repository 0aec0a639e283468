import type { ClientThread } from '../client/client-thread.ts';
import type { CongestionControl as Algorithm } from '../path/network-path.ts';
import type { Bottleneck, Policer } from './bottleneck.ts';
import type { CongestionControl, Transport } from './congestion-control.ts';
import { createCongestionControl } from './create-congestion-control.ts';
import type { EventHandler, EventQueue } from './event-queue.ts';
import type { HandshakeRound } from './handshake.ts';
import { HyStart } from './hystart.ts';
import { LossProcess } from './loss.ts';
import { ByteOrder, type Segment, type Stream } from './stream.ts';
import type { Trace } from './trace.ts';

/** Response bytes that a full packet carries, and what it adds on the wire (IPv4, TLS 1.3 or QUIC short header). */
const PACKET: Record<Transport, { payloadBytes: number; overheadBytes: number; ackBytes: number }> = {
  tcp: { payloadBytes: 1_430, overheadBytes: 70, ackBytes: 52 },
  quic: { payloadBytes: 1_300, overheadBytes: 60, ackBytes: 60 },
};
/** One acknowledgement for two packets (RFC 5681 section 4.2, RFC 9000 section 13.2.2). */
const PACKETS_PER_ACK = 2;
/** QUIC paces at this multiple of window over round trip (RFC 9002 section 7.7). */
const QUIC_PACING_GAIN = 1.25;
/** Packets that a pacer lets go at once, as quic-go and Chromium do. */
const PACING_BURST = 10;
/** Linux: shortest retransmission timeout, and the probe's allowance for a delayed acknowledgement (RFC 8985 section 7.2). */
const TCP_MIN_RTO_MS = 200;
const TLP_SLACK_MS = 8;
/** RFC 9000 section 18.2, max_ack_delay. */
const QUIC_MAX_ACK_DELAY_MS = 25;
/** First retry of a lost handshake packet: RFC 6298 section 2.1 for SYN; Chromium's QUIC guess of the round trip is 100 ms. */
const SYN_RETRY_MS = 1_000;
const QUIC_INITIAL_RETRY_MS = 300;
/** A flight is emulated in about this many bursts, each clocked by the last one's acknowledgements. */
const BURSTS_PER_FLIGHT = 8;
/** Shares of packets add up with rounding: less than this of a packet is none. */
const TINY = 1e-6;

/** What all connections of a page load share. */
export interface Network {
  readonly events: EventQueue;
  readonly down: Bottleneck;
  readonly up: Bottleneck;
  readonly udpPolicer: Policer | null;
  readonly rttMs: number;
  readonly loss: number;
  /** Of UDP packets, `loss` included. */
  readonly udpLoss: number;
  readonly lossBurst: number;
  readonly client: ClientThread;
  /** What reading a QUIC packet takes of the client's thread. */
  readonly quicPacketMs: number;
  /** Packets that travel as one at the least: 2, more for pages so heavy that detail costs too much. */
  readonly leastBurst: number;
  /** Who listens, null for nobody. */
  readonly trace: Trace | null;
}

/** How one connection is made. */
export interface ConnectionSettings {
  transport: Transport;
  handshake: readonly HandshakeRound[];
  /** Rounds of the handshake that requests wait for; all when absent. */
  requestsAfter?: number;
  initialWindow: number;
  congestionControl: Algorithm;
  /** Round trip beyond the path's. */
  extraRttMs: number;
  dnsMs: number;
  /** Whether a lost packet holds up the stream that it belongs to, or everything behind it. */
  orderedBy: 'stream' | 'connection';
  seed: number;
}

/** Decides whose bytes the server sends next. */
export interface ResponseSource {
  readonly empty: boolean;
  add(stream: Stream): void;
  /** Up to `room` bytes of one stream, taken from its `unsent`; null when there are none. */
  take(room: number, packetBytes: number): Segment | null;
}

/** Whoever opened a connection. */
export interface ConnectionOwner {
  /** Requests may go. */
  onOpen(connection: Connection): void;
  /** The handshake has ended, of which `onOpen` did not await all. */
  onConfirmed?(): void;
}

/** What a connection went through, for explaining a result. */
export interface TransportCounters {
  /** Packets lost at random, at the queue, and at a policer. */
  lost: number;
  queueDrops: number;
  policed: number;
  /** Waits for a timer because nothing came back. */
  timeouts: number;
  /** Streams that waited for another stream's lost packet, and for how long in all. */
  blockedStreams: number;
  blockedMs: number;
}

/** Packets sent back to back. */
interface Burst {
  index: number;
  sentMs: number;
  packets: number;
  delivered: number;
  /** What each packet takes of the window: Linux counts packets, QUIC bytes (RFC 9002 section 7). */
  share: number;
  segments: Segment[];
  firstRttMs: number;
  ackGapMs: number;
}

/** Lost packets that the sender has not noticed. */
interface Gap {
  /** Of the burst that they were in. */
  index: number;
  /** What they took of the window. */
  inFlight: number;
  segments: Segment[];
  /** Whether packets behind them in the same burst arrived: its acknowledgement shows the gap. */
  ownBurst: boolean;
}

const HANDSHAKE_AT_SERVER = 0;
const HANDSHAKE_AT_CLIENT = 1;
const RESPONSE_READY = 2;
const DELIVERED = 3;
const ACKNOWLEDGED = 4;
const TIMER = 5;
const PACED = 6;
const READ = 7;
const EARLY = 8;

/**
 * A TCP or QUIC connection: handshake, requests upstream, responses downstream under congestion
 * control through the shared bottleneck, recovery of losses, delivery in order.
 *
 * A flight travels as bursts; a burst's acknowledgement releases the next one, so windows, queue and
 * rates follow the clock of the bottleneck as they do packet by packet, at a fraction of the events.
 * A server's extra round trip is counted on its way up, so that what it sends at one time
 * reaches the bottleneck at that time.
 */
export class Connection implements EventHandler {
  readonly counters: TransportCounters = {
    lost: 0,
    queueDrops: 0,
    policed: 0,
    timeouts: 0,
    blockedStreams: 0,
    blockedMs: 0,
  };
  /** Whether requests may go, and whether the handshake is over. */
  open = false;
  confirmed = false;
  readonly #network: Network;
  readonly #settings: ConnectionSettings;
  readonly #owner: ConnectionOwner;
  readonly #source: ResponseSource;
  readonly #control: CongestionControl;
  readonly #hystart: HyStart;
  readonly #downLoss: LossProcess;
  readonly #upLoss: LossProcess;
  readonly #order = new ByteOrder();
  readonly #payloadBytes: number;
  readonly #overheadBytes: number;
  readonly #oneWayUpMs: number;
  readonly #baseRttMs: number;

  // Server: what is under way.
  #inFlight = 0;
  /** Packets in flight that will arrive: when there are none, only a timer helps. */
  #arriving = 0;
  #nextBurst = 0;
  #gaps: Gap[] = [];
  #resend: Segment[] = [];
  /** Bursts before this one were sent before the last window cut. */
  #recoveryEnd = 0;
  /** RFC 6937: what a recovery may send for each delivered packet, and what it has earned. */
  #recoveryRatio = 0;
  #recoveryCredit = 0;
  #timeoutsInARow = 0;
  #timer = 0;
  #lastSentMs = 0;
  // Server: the current round trip.
  #roundEnd = 0;
  #roundMaxInFlight = 0;
  #lastRoundMaxInFlight = 0;
  #windowLimited = false;
  #srttMs = 0;
  #rttVarMs = 0;
  #minRttMs = Number.POSITIVE_INFINITY;
  // Pacing: a bucket of packets.
  #paceTokens = PACING_BURST;
  #paceAtMs = 0;
  #paceScheduled = false;
  // Client.
  #openingMs = 0;
  #round = 0;
  #upInOrderMs = 0;

  constructor(
    network: Network,
    settings: ConnectionSettings,
    owner: ConnectionOwner,
    source: ResponseSource,
  ) {
    this.#network = network;
    this.#settings = settings;
    this.#owner = owner;
    this.#source = source;
    this.#control = createCongestionControl(
      settings.congestionControl,
      settings.transport,
      settings.initialWindow,
    );
    this.#hystart = new HyStart(settings.transport);
    const loss = settings.transport === 'quic' ? network.udpLoss : network.loss;
    this.#downLoss = new LossProcess(loss, network.lossBurst, settings.seed);
    this.#upLoss = new LossProcess(loss, network.lossBurst, settings.seed ^ 0x5bd1e995);
    this.#payloadBytes = PACKET[settings.transport].payloadBytes;
    this.#overheadBytes = PACKET[settings.transport].overheadBytes;
    this.#oneWayUpMs = network.rttMs / 2 + settings.extraRttMs;
    this.#baseRttMs = network.rttMs + settings.extraRttMs;
  }

  /** Resolves the name and starts the handshake; the owner hears when it is done. */
  connect(): void {
    const { events, trace } = this.#network;
    trace?.opening(this, events.now);
    this.#openingMs = events.now + this.#settings.dnsMs;
    this.#sendHandshake(this.#openingMs);
    if (this.#settings.requestsAfter === 0) events.schedule(this.#openingMs, this, EARLY);
  }

  /** Sends a request; its response arrives at the stream's owner. */
  request(stream: Stream): void {
    const { events, up, trace } = this.#network;
    stream.sentMs = events.now;
    trace?.request(this, stream, events.now);
    stream.order = this.#settings.orderedBy === 'stream' ? new ByteOrder() : this.#order;
    const packets = Math.max(1, Math.ceil(stream.requestBytes / this.#payloadBytes));
    let arrivesMs =
      up.serialise(events.now, stream.requestBytes + packets * this.#overheadBytes) + this.#oneWayUpMs;
    const lost = this.#upLoss.lostOf(packets);
    if (lost !== null) {
      trace?.lost(this, lost.length, 'random', events.now);
      arrivesMs += this.#probeTimeoutMs(1);
    }
    // Early data is of no use to the server before the ClientHello.
    if (this.#settings.transport === 'tcp' || !this.confirmed) {
      arrivesMs = Math.max(arrivesMs, this.#upInOrderMs);
      this.#upInOrderMs = arrivesMs;
    }
    events.schedule(arrivesMs + stream.thinkMs, this, RESPONSE_READY, stream);
  }

  handle(kind: number, payload: unknown): void {
    switch (kind) {
      case DELIVERED:
        this.#deliver(payload as Burst);
        break;
      case READ:
        this.#read(payload as Burst);
        break;
      case ACKNOWLEDGED:
        this.#acknowledge(payload as Burst);
        break;
      case RESPONSE_READY:
        this.#source.add(payload as Stream);
        this.#send();
        break;
      case PACED:
        this.#paceScheduled = false;
        this.#refill(this.#paceRate() ?? 0);
        // Whatever rounding made of the wait: the packet that it was for may go.
        this.#paceTokens = Math.max(this.#paceTokens, 1);
        this.#send();
        break;
      case TIMER:
        if (payload === this.#timer) this.#timeOut();
        break;
      case HANDSHAKE_AT_SERVER:
        this.#answerHandshake();
        break;
      case HANDSHAKE_AT_CLIENT:
        this.#endHandshakeRound();
        break;
      case EARLY:
        this.#beOpen();
        break;
    }
  }

  // Handshake

  #sendHandshake(atMs: number): void {
    const { events, up } = this.#network;
    const { upBytes } = this.#settings.handshake[this.#round]!;
    const lostMs = this.#handshakeRetryMs(this.#upLoss, upBytes);
    this.#upInOrderMs = up.serialise(atMs, upBytes) + lostMs + this.#oneWayUpMs;
    events.schedule(this.#upInOrderMs, this, HANDSHAKE_AT_SERVER);
  }

  #answerHandshake(): void {
    const { events, down, rttMs } = this.#network;
    const { downBytes } = this.#settings.handshake[this.#round]!;
    const lostMs = this.#handshakeRetryMs(this.#downLoss, downBytes);
    events.schedule(down.serialise(events.now, downBytes) + lostMs + rttMs / 2, this, HANDSHAKE_AT_CLIENT);
  }

  #endHandshakeRound(): void {
    const { events } = this.#network;
    this.#round++;
    if (this.#round === 1) this.#sampleRtt(events.now - this.#openingMs, this.#baseRttMs);
    const { handshake, requestsAfter = handshake.length } = this.#settings;
    if (this.#round < handshake.length) this.#sendHandshake(events.now);
    else this.confirmed = true;
    if (this.#round === requestsAfter) this.#beOpen();
    else if (this.confirmed) this.#owner.onConfirmed?.();
  }

  #beOpen(): void {
    this.open = true;
    this.#network.trace?.open(this, this.#network.events.now);
    this.#owner.onOpen(this);
  }

  /** Time lost to handshake packets that had to be sent again, each retry waiting twice as long. */
  #handshakeRetryMs(loss: LossProcess, bytes: number): number {
    const packets = Math.ceil(bytes / this.#payloadBytes);
    let waitMs =
      this.#settings.transport === 'quic'
        ? QUIC_INITIAL_RETRY_MS
        : this.#round === 0
          ? SYN_RETRY_MS
          : this.#probeTimeoutMs(packets);
    let lostMs = 0;
    for (let lost = loss.lostOf(packets); lost !== null; lost = loss.lostOf(lost.length)) {
      this.counters.lost += lost.length;
      this.#network.trace?.lost(this, lost.length, 'random', this.#network.events.now);
      lostMs += waitMs;
      waitMs *= 2;
      // A path that loses everything would never open; give up hope after a minute.
      if (lostMs > 60_000) break;
    }
    return lostMs;
  }

  // Server

  #send(): void {
    const { events } = this.#network;
    if (this.#inFlight < TINY && this.#nextBurst > 0) {
      const timeouts = Math.floor((events.now - this.#lastSentMs) / this.#rtoMs());
      if (timeouts > 0) this.#control.onIdle(timeouts);
    }
    while (this.#resend.length > 0 || !this.#source.empty) {
      const room = Math.floor(Math.max(this.#control.window - this.#inFlight, this.#recoveryCredit) + TINY);
      if (room < 1) {
        this.#windowLimited = true;
        break;
      }
      const packets = Math.min(room, this.#burstPackets());
      const allowed = this.#paced(packets);
      if (allowed < 1) break;
      this.#sendBurst(allowed);
    }
    if (this.#arriving === 0 && this.#gaps.length > 0) this.#armTimer();
  }

  #burstPackets(): number {
    const flight = this.#control.window / BURSTS_PER_FLIGHT;
    // What passes the bottleneck in a sixteenth of a round trip is short enough to travel together.
    const short = (this.#network.down.bytesPerMs * this.#baseRttMs) / (16 * this.#payloadBytes);
    return Math.max(this.#network.leastBurst, Math.ceil(Math.max(flight, short)));
  }

  /** Packets that the pacer lets go now; when none, schedules the time at which it will. */
  #paced(packets: number): number {
    const { events } = this.#network;
    const rate = this.#paceRate();
    if (rate === null) return packets;
    this.#refill(rate);
    if (this.#paceTokens + TINY >= 1) return Math.min(packets, Math.floor(this.#paceTokens + TINY));
    if (!this.#paceScheduled) {
      this.#paceScheduled = true;
      const enough = Math.max(2, 2 * rate, this.#control.window / (2 * BURSTS_PER_FLIGHT));
      events.schedule(events.now + (Math.min(enough, packets) - this.#paceTokens) / rate, this, PACED);
    }
    return 0;
  }

  /** Packets a millisecond; null when the transport does not pace. */
  #paceRate(): number | null {
    if (this.#control.paceRate !== null) return this.#control.paceRate;
    if (this.#settings.transport === 'tcp' || this.#srttMs === 0) return null;
    return (QUIC_PACING_GAIN * this.#control.window) / this.#srttMs;
  }

  #refill(rate: number): void {
    const { now } = this.#network.events;
    const most = Math.max(PACING_BURST, 2 * rate);
    this.#paceTokens = Math.min(most, this.#paceTokens + (now - this.#paceAtMs) * rate);
    this.#paceAtMs = now;
  }

  #sendBurst(most: number): void {
    const { events, down, udpPolicer, trace } = this.#network;
    const segments: Segment[] = [];
    let bytes = 0;
    const limit = most * this.#payloadBytes;
    while (bytes < limit) {
      const segment = this.#nextSegment(limit - bytes);
      if (segment === null) break;
      segments.push(segment);
      bytes += segment.bytes;
    }
    const packets = Math.max(1, Math.ceil(bytes / this.#payloadBytes));
    const packetBytes = bytes / packets + this.#overheadBytes;

    let admitted = packets;
    if (udpPolicer !== null && this.#settings.transport === 'quic') {
      admitted = udpPolicer.pass(events.now, packets, packetBytes);
      this.counters.policed += packets - admitted;
    }
    const afterPolicer = admitted;
    const queued = down.room(events.now, admitted, packetBytes);
    this.counters.queueDrops += admitted - queued;
    admitted = queued;
    const firstLeavesMs = Math.max(down.busyUntilMs, events.now) + packetBytes / down.bytesPerMs;
    const leavesMs = admitted > 0 ? down.serialise(events.now, admitted * packetBytes) : 0;
    const lost = admitted > 0 ? this.#downLoss.lostOf(admitted) : null;
    this.counters.lost += lost?.length ?? 0;

    const burst: Burst = {
      index: this.#nextBurst++,
      sentMs: events.now,
      packets,
      delivered: admitted - (lost?.length ?? 0),
      share: this.#settings.transport === 'quic' ? bytes / (packets * this.#payloadBytes) : 1,
      segments,
      firstRttMs: firstLeavesMs - events.now + this.#baseRttMs,
      ackGapMs: (PACKETS_PER_ACK * packetBytes) / down.bytesPerMs,
    };
    if (burst.delivered < packets) {
      this.#loseFrom(burst, admitted, lost ?? []);
      if (trace !== null) {
        if (afterPolicer < packets) trace.lost(this, packets - afterPolicer, 'policed', events.now);
        if (queued < afterPolicer) trace.lost(this, afterPolicer - queued, 'queue', events.now);
        if (lost !== null) trace.lost(this, lost.length, 'random', events.now);
      }
    }
    this.#lastSentMs = events.now;
    this.#inFlight += packets * burst.share;
    this.#arriving += burst.delivered;
    this.#recoveryCredit = Math.max(0, this.#recoveryCredit - packets);
    this.#paceTokens -= packets * burst.share;
    if (this.#inFlight > this.#roundMaxInFlight) this.#roundMaxInFlight = this.#inFlight;
    if (burst.delivered > 0) events.schedule(leavesMs + this.#network.rttMs / 2, this, DELIVERED, burst);
  }

  #nextSegment(room: number): Segment | null {
    const again = this.#resend[0];
    if (again !== undefined) {
      if (again.bytes > room) return splitFront(again, room);
      this.#resend.shift();
      return again;
    }
    const segment = this.#source.take(room, this.#payloadBytes);
    if (segment !== null) {
      segment.offset = segment.stream.order.sent;
      segment.stream.order.sent += segment.bytes;
    }
    return segment;
  }

  /** Takes lost packets out of a burst: those at `lost` and all from `admitted` on. */
  #loseFrom(burst: Burst, admitted: number, lost: number[]): void {
    const arrived: Segment[] = [];
    const gap: Gap = {
      index: burst.index,
      inFlight: (burst.packets - burst.delivered) * burst.share,
      segments: [],
      ownBurst: false,
    };
    const queue = burst.segments;
    let at = 0;
    for (let packet = 0, next = 0; packet < burst.packets; packet++) {
      const isLost = packet >= admitted || lost[next] === packet;
      if (lost[next] === packet) next++;
      if (!isLost && gap.segments.length > 0) gap.ownBurst = true;
      let room = this.#payloadBytes;
      while (room > 0 && at < queue.length) {
        const segment = queue[at]!;
        const part = segment.bytes > room ? splitFront(segment, room) : segment;
        if (part === segment) at++;
        room -= part.bytes;
        (isLost ? gap.segments : arrived).push(part);
      }
    }
    burst.segments = arrived;
    this.#gaps.push(gap);
  }

  #acknowledge(burst: Burst): void {
    const { now } = this.#network.events;
    this.#inFlight -= burst.delivered * burst.share;
    this.#arriving -= burst.delivered;
    this.#timeoutsInARow = 0;
    this.#sampleRtt(now - burst.sentMs, burst.firstRttMs);
    const firstOfRound = burst.index >= this.#roundEnd;
    if (firstOfRound) this.#startRound(now);
    if (burst.index >= this.#recoveryEnd) {
      this.#recoveryCredit = 0;
      this.#grow(burst, now, firstOfRound);
    } else {
      this.#recoveryCredit += burst.delivered * this.#recoveryRatio;
    }
    if (this.#gaps.length > 0) this.#detectLosses(burst.index);
    this.#send();
  }

  #startRound(now: number): void {
    this.#roundEnd = this.#nextBurst;
    this.#lastRoundMaxInFlight = this.#roundMaxInFlight;
    this.#roundMaxInFlight = this.#inFlight;
    this.#hystart.startRound(now);
  }

  #grow(burst: Burst, now: number, firstOfRound: boolean): void {
    const control = this.#control;
    const used = Math.max(this.#roundMaxInFlight, this.#lastRoundMaxInFlight);
    // Linux counts a slow-start window as used from half on: what it lets out next fills it.
    const limited = this.#windowLimited || (control.slowStart && control.window < 2 * used);
    this.#windowLimited = false;
    control.onAck(burst.delivered * burst.share, now, this.#srttMs, this.#minRttMs, limited);
    if (!control.slowStart) return;
    const exits = this.#hystart.exits(
      now,
      now - burst.ackGapMs * (burst.delivered / PACKETS_PER_ACK - 1),
      burst.ackGapMs,
      burst.firstRttMs,
      this.#minRttMs,
      control.window,
      firstOfRound,
    );
    if (exits) control.leaveSlowStart();
  }

  /** A gap is lost once something sent after it is acknowledged (RFC 8985 section 6.2, without its reordering window). */
  #detectLosses(acknowledged: number): void {
    let kept = 0;
    for (const gap of this.#gaps) {
      if (gap.index < acknowledged || (gap.index === acknowledged && gap.ownBurst)) this.#repair(gap);
      else this.#gaps[kept++] = gap;
    }
    this.#gaps.length = kept;
  }

  #repair(gap: Gap): void {
    this.#inFlight -= gap.inFlight;
    for (const segment of gap.segments) this.#resend.push(segment);
    // One cut a round trip (RFC 9438 section 4.6, RFC 9002 section 7.3.2).
    if (gap.index < this.#recoveryEnd) return;
    const before = this.#control.window;
    this.#control.onLoss(this.#network.events.now);
    this.#recoveryRatio = this.#control.window / before;
    this.#recoveryEnd = this.#nextBurst;
    // The first repair is sent whatever the window says (RFC 6675 section 5, RFC 9002 section 7.3.2).
    this.#recoveryCredit = 1;
  }

  #armTimer(): void {
    const waitMs =
      this.#timeoutsInARow === 0 || this.#settings.transport === 'quic'
        ? this.#probeTimeoutMs(this.#inFlight)
        : this.#rtoMs();
    const backedOffMs = waitMs * 2 ** Math.min(6, this.#timeoutsInARow);
    this.#network.events.schedule(this.#network.events.now + backedOffMs, this, TIMER, ++this.#timer);
  }

  #timeOut(): void {
    // Something sent since may yet be acknowledged and show the gap.
    if (this.#arriving > 0 || this.#gaps.length === 0) return;
    this.counters.timeouts++;
    this.#network.trace?.timeout(this, this.#network.events.now);
    const gaps = this.#gaps;
    this.#gaps = [];
    for (const gap of gaps) this.#repair(gap);
    if (this.#timeoutsInARow++ > 0) this.#control.onTimeout(this.#network.events.now);
    this.#send();
  }

  /** Time from the last acknowledgement to a probe: RFC 8985 section 7.2, RFC 9002 section 6.2.1. */
  #probeTimeoutMs(packetsOut: number): number {
    if (this.#settings.transport === 'quic') {
      return this.#srttMs + Math.max(1, 4 * this.#rttVarMs) + QUIC_MAX_ACK_DELAY_MS;
    }
    const slackMs = packetsOut <= 1 ? TCP_MIN_RTO_MS : TLP_SLACK_MS;
    return Math.min(2 * this.#srttMs + slackMs, this.#rtoMs());
  }

  /** RFC 6298 with Linux's floor under the variance term. */
  #rtoMs(): number {
    return this.#srttMs + Math.max(TCP_MIN_RTO_MS, 4 * this.#rttVarMs);
  }

  #sampleRtt(rttMs: number, firstRttMs: number): void {
    if (firstRttMs < this.#minRttMs) this.#minRttMs = firstRttMs;
    if (this.#srttMs === 0) {
      this.#srttMs = rttMs;
      this.#rttVarMs = rttMs / 2;
      return;
    }
    this.#rttVarMs += (Math.abs(rttMs - this.#srttMs) - this.#rttVarMs) / 4;
    this.#srttMs += (rttMs - this.#srttMs) / 8;
  }

  // Client

  #deliver(burst: Burst): void {
    const { events, client, quicPacketMs } = this.#network;
    if (this.#settings.transport === 'quic') {
      // QUIC is acknowledged by the browser when it comes to it, TCP by the kernel at once. What the
      // first packet waits for that looks to the sender like a queue.
      const workMs = burst.delivered * quicPacketMs;
      const readMs = client.run(events.now, workMs);
      burst.firstRttMs += readMs - events.now - workMs;
      if (readMs > events.now) {
        events.schedule(readMs, this, READ, burst);
        return;
      }
    }
    this.#read(burst);
  }

  #read(burst: Burst): void {
    const { events, up } = this.#network;
    const acks = Math.ceil(burst.delivered / PACKETS_PER_ACK);
    const leavesMs = up.serialise(events.now, acks * PACKET[this.#settings.transport].ackBytes);
    events.schedule(leavesMs + this.#oneWayUpMs, this, ACKNOWLEDGED, burst);
    for (const segment of burst.segments) this.#arrive(segment);
  }

  #arrive(segment: Segment): void {
    const order = segment.stream.order;
    if (segment.offset !== order.delivered) {
      segment.heldSinceMs = this.#network.events.now;
      order.held.set(segment.offset, segment);
      return;
    }
    this.#handUp(segment);
    if (order.held.size === 0) return;
    const { trace } = this.#network;
    const blocked = new Set<Stream>();
    const heldMs = trace === null ? null : new Map<Stream, number>();
    for (let next = order.held.get(order.delivered); next; next = order.held.get(order.delivered)) {
      order.held.delete(next.offset);
      if (heldMs !== null) {
        const waitedMs = this.#network.events.now - next.heldSinceMs;
        heldMs.set(next.stream, Math.max(heldMs.get(next.stream) ?? 0, waitedMs));
      }
      if (next.stream !== segment.stream && !blocked.has(next.stream)) {
        blocked.add(next.stream);
        this.counters.blockedStreams++;
        this.counters.blockedMs += this.#network.events.now - next.heldSinceMs;
      }
      this.#handUp(next);
    }
    if (heldMs !== null && heldMs.size > 0) {
      trace!.released(this, segment.stream, heldMs, this.#network.events.now);
    }
  }

  #handUp(segment: Segment): void {
    const { stream } = segment;
    stream.order.delivered += segment.bytes;
    if (stream.firstByteMs < 0) stream.firstByteMs = this.#network.events.now;
    stream.received += segment.bytes;
    stream.owner.onData(stream);
  }
}

/** Cuts `bytes` off the front of a segment, which keeps the rest. */
function splitFront(segment: Segment, bytes: number): Segment {
  const front: Segment = { ...segment, bytes };
  segment.bytes -= bytes;
  segment.offset += bytes;
  return front;
}
