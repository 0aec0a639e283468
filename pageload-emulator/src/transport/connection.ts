import type { CongestionControl as Algorithm } from '@hopwise/contract';
import { PACKET, type Transport } from '../network/packet.ts';
import { createCongestionControl } from './congestion-control/create-congestion-control.ts';
import type { ConnectionState } from './connection-state.ts';
import type { HandshakeRound } from './handshake.ts';
import { HandshakeExchange, type HandshakeOwner } from './handshake-exchange.ts';
import { ByteOrder } from './head-of-line-blocking.ts';
import { Receiver } from './receiver.ts';
import { RequestSender } from './request-sender.ts';
import { RetransmissionTimer } from './retransmission-timer.ts';
import { RttEstimator } from './rtt-estimator.ts';
import { Sender } from './sender.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { ResponseSource, Segment, Stream } from './stream.ts';
import { noCounters, type TransportCounters } from './transport-counters.ts';

/** Settings of one connection. */
export interface ConnectionSettings {
  transport: Transport;
  handshake: readonly HandshakeRound[];
  /** Number of handshake rounds that requests wait for; all when absent. */
  requestsAfter?: number;
  /** Packets. */
  initialWindow: number;
  congestionControl: Algorithm;
  /** Path rate that the server assumes when the connection opens, bits per second; it begins with `initialWindow` when absent. */
  startBps?: number | undefined;
  /** Round trip beyond the path's, milliseconds. */
  extraRttMs: number;
  /** Whether a lost packet holds up only its stream (QUIC), or everything sent after it on the connection (TCP). */
  orderedBy: 'stream' | 'connection';
}

/** Is notified of a connection's progress. */
export interface ConnectionOwner {
  /** Requests may go. */
  onOpen(connection: Connection): void;
  /** The handshake has ended, after requests were allowed early. */
  onConfirmed?(): void;
}

/**
 * A TCP or QUIC connection: handshake, requests upstream, responses downstream.
 *
 * The server's extra round trip is counted on the way up, so that what servers send at the same time reaches the bottleneck
 * at the same time.
 */
export class Connection implements HandshakeOwner {
  /** Whether requests may go. */
  open = false;
  readonly #context: SimulationContext;
  readonly #settings: ConnectionSettings;
  readonly #owner: ConnectionOwner;
  readonly #source: ResponseSource;
  readonly #state: ConnectionState;
  readonly #handshake: HandshakeExchange;
  readonly #order = new ByteOrder<Segment>();
  /** Created with the first request: not every connection is used. */
  #requests: RequestSender | null = null;

  constructor(
    context: SimulationContext,
    settings: ConnectionSettings,
    owner: ConnectionOwner,
    source: ResponseSource,
  ) {
    const { transport, extraRttMs, handshake, requestsAfter = handshake.length } = settings;
    const { rttMs, loss } = context.path;
    const rtt = new RttEstimator();
    this.#context = context;
    this.#settings = settings;
    this.#owner = owner;
    this.#source = source;
    this.#state = {
      id: this,
      transport,
      packet: PACKET[transport],
      oneWayUpMs: rttMs / 2 + extraRttMs,
      baseRttMs: rttMs + extraRttMs,
      loss: loss[transport],
      rtt,
      timer: new RetransmissionTimer(transport, rtt),
      counters: noCounters(),
    };
    this.#handshake = new HandshakeExchange(context, handshake, requestsAfter, this.#state, this);
  }

  get counters(): TransportCounters {
    return this.#state.counters;
  }

  /** Whether the server has answered the first handshake round. */
  get answered(): boolean {
    return this.#handshake.answered;
  }

  /** Whether the handshake is over. */
  get confirmed(): boolean {
    return this.#handshake.confirmed;
  }

  /**
   * Starts the handshake after the name is resolved; calls `onOpen` of the owner when requests may go.
   *
   * @param dnsMs how long resolving the name takes
   */
  connect(dnsMs: number): void {
    const { events, trace } = this.#context;
    trace?.opening(this, events.now);
    this.#handshake.start(events.now + dnsMs);
  }

  /** Abandons a connection that is being opened. */
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
    if (this.#settings.orderedBy === 'connection') stream.order = this.#order;
    this.#requests ??= this.#createRequestSender();
    // The server cannot read early data before the ClientHello.
    this.#requests.send(stream, this.#handshake.atServerMs);
  }

  #createRequestSender(): RequestSender {
    const { transport, congestionControl, initialWindow, startBps } = this.#settings;
    const sender = new Sender(this.#context, this.#state, {
      control: createCongestionControl(congestionControl, transport, initialWindow),
      source: this.#source,
      receiver: new Receiver(this.#context, this.#state),
      startBps,
    });
    return new RequestSender(this.#context, this.#state, sender);
  }
}
