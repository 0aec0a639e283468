import type { CongestionControl as Algorithm } from '@hopwise/contract';
import type { Transport } from './congestion-control.ts';
import { createCongestionControl } from './create-congestion-control.ts';
import type { HandshakeRound } from './handshake.ts';
import { HandshakeExchange, type HandshakeOwner } from './handshake-exchange.ts';
import { ByteOrder } from './head-of-line-blocking.ts';
import { Receiver } from './receiver.ts';
import { RequestSender } from './request-sender.ts';
import type { ResponseSource } from './response-source.ts';
import { RetransmissionTimer } from './retransmission-timer.ts';
import { RttEstimator } from './rtt-estimator.ts';
import { Sender } from './sender.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Segment, Stream } from './stream.ts';
import { noCounters, type TransportCounters } from './transport-counters.ts';

/** How one connection is made. */
export interface ConnectionSettings {
  transport: Transport;
  handshake: readonly HandshakeRound[];
  /** Rounds of the handshake that requests wait for; all when absent. */
  requestsAfter?: number;
  initialWindow: number;
  congestionControl: Algorithm;
  /** Bits per second that the server takes the path to carry when the connection opens; it begins with `initialWindow` when absent. */
  startBps?: number | undefined;
  /** Round trip beyond the path's. */
  extraRttMs: number;
  /** Whether a lost packet holds up the stream that it belongs to, or everything behind it. */
  orderedBy: 'stream' | 'connection';
}

/** Whoever opened a connection. */
export interface ConnectionOwner {
  /** Requests may go. */
  onOpen(connection: Connection): void;
  /** The handshake has ended, of which `onOpen` did not await all. */
  onConfirmed?(): void;
}

/**
 * A TCP or QUIC connection: handshake, requests upstream, responses downstream.
 *
 * A server's extra round trip is counted on its way up, so that what it sends at one time
 * reaches the bottleneck at that time.
 */
export class Connection implements HandshakeOwner {
  /** Whether requests may go. */
  open = false;
  readonly counters: TransportCounters = noCounters();
  readonly #context: SimulationContext;
  readonly #settings: ConnectionSettings;
  readonly #owner: ConnectionOwner;
  readonly #source: ResponseSource;
  readonly #oneWayUpMs: number;
  readonly #rtt = new RttEstimator();
  readonly #timer: RetransmissionTimer;
  readonly #handshake: HandshakeExchange;
  readonly #order = new ByteOrder<Segment>();
  /** Since the first request: not every connection that is opened is used. */
  #requests: RequestSender | null = null;

  constructor(
    context: SimulationContext,
    settings: ConnectionSettings,
    owner: ConnectionOwner,
    source: ResponseSource,
  ) {
    const { transport, extraRttMs } = settings;
    const { up: upLoss, down: downLoss } = context.loss[transport];
    this.#context = context;
    this.#settings = settings;
    this.#owner = owner;
    this.#source = source;
    this.#oneWayUpMs = context.rttMs / 2 + extraRttMs;
    this.#timer = new RetransmissionTimer(transport, this.#rtt);
    this.#handshake = new HandshakeExchange(
      context,
      settings.handshake,
      settings.requestsAfter ?? settings.handshake.length,
      {
        transport,
        oneWayUpMs: this.#oneWayUpMs,
        upLoss,
        downLoss,
        rtt: this.#rtt,
        timer: this.#timer,
        counters: this.counters,
      },
      this,
    );
  }

  /** Whether the server has answered: over TCP, whether there is a connection to speak TLS on. */
  get answered(): boolean {
    return this.#handshake.answered;
  }

  /** Whether the handshake is over. */
  get confirmed(): boolean {
    return this.#handshake.confirmed;
  }

  /**
   * Starts the handshake once the name is resolved; the owner hears when it is done.
   *
   * @param dnsMs how long the name takes
   */
  connect(dnsMs: number): void {
    const { events, trace } = this.#context;
    trace?.opening(this, events.now);
    this.#handshake.start(events.now + dnsMs);
  }

  /** Gives up a connection that is being opened. */
  abandon(): void {
    this.#handshake.abandon();
  }

  onReady(): void {
    this.open = true;
    this.#context.trace?.open(this, this.#context.events.now);
    this.#owner.onOpen(this);
  }

  onConfirmed(): void {
    this.#owner.onConfirmed?.();
  }

  /** Sends a request; its response arrives at the stream's owner. */
  request(stream: Stream): void {
    const { events, trace } = this.#context;
    stream.sentMs = events.now;
    trace?.request(this, stream, events.now);
    stream.order = this.#settings.orderedBy === 'stream' ? new ByteOrder<Segment>() : this.#order;
    this.#requests ??= this.#makeUse();
    // Early data is of no use to the server before the ClientHello.
    this.#requests.send(stream, this.#handshake.atServerMs);
  }

  #makeUse(): RequestSender {
    const { transport, extraRttMs, congestionControl, initialWindow, startBps } = this.#settings;
    const { counters } = this;
    const oneWayUpMs = this.#oneWayUpMs;
    const timer = this.#timer;
    const sender = new Sender(this.#context, {
      connection: this,
      transport,
      baseRttMs: this.#context.rttMs + extraRttMs,
      control: createCongestionControl(congestionControl, transport, initialWindow),
      source: this.#source,
      receiver: new Receiver(this.#context, transport, this, oneWayUpMs, counters),
      rtt: this.#rtt,
      timer,
      counters,
      startBps,
    });
    return new RequestSender(
      this.#context,
      this,
      { transport, oneWayUpMs, loss: this.#context.loss[transport].up, timer },
      sender,
    );
  }
}
