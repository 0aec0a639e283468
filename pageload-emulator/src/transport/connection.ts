import type { CongestionControl as Algorithm } from '../path/network-path.ts';
import type { Transport } from './congestion-control.ts';
import { createCongestionControl } from './create-congestion-control.ts';
import type { HandshakeRound } from './handshake.ts';
import { HandshakeExchange, type HandshakeOwner } from './handshake-exchange.ts';
import { LossProcess } from './loss.ts';
import type { Network } from './network.ts';
import { Receiver } from './receiver.ts';
import { RequestSender } from './request-sender.ts';
import { RetransmissionTimer } from './retransmission-timer.ts';
import { RttEstimator } from './rtt-estimator.ts';
import { type ResponseSource, Sender } from './sender.ts';
import { ByteOrder, type Stream } from './stream.ts';
import { noCounters, type TransportCounters } from './transport-counters.ts';

export type { Network } from './network.ts';
export type { ResponseSource } from './sender.ts';
export type { TransportCounters } from './transport-counters.ts';

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
  readonly #network: Network;
  readonly #settings: ConnectionSettings;
  readonly #owner: ConnectionOwner;
  readonly #handshake: HandshakeExchange;
  readonly #sender: Sender;
  readonly #requests: RequestSender;
  readonly #order = new ByteOrder();

  constructor(
    network: Network,
    settings: ConnectionSettings,
    owner: ConnectionOwner,
    source: ResponseSource,
  ) {
    const { transport, extraRttMs, seed } = settings;
    const rtt = new RttEstimator();
    const timer = new RetransmissionTimer(transport, rtt);
    const oneWayUpMs = network.rttMs / 2 + extraRttMs;
    const { counters } = this;
    const loss = transport === 'quic' ? network.udpLoss : network.loss;
    const upLoss = new LossProcess(loss, network.lossBurst, seed ^ 0x5bd1e995);
    const downLoss = new LossProcess(loss, network.lossBurst, seed);
    this.#network = network;
    this.#settings = settings;
    this.#owner = owner;
    this.#handshake = new HandshakeExchange(
      network,
      settings.handshake,
      settings.requestsAfter ?? settings.handshake.length,
      { transport, oneWayUpMs, upLoss, downLoss, rtt, timer, counters },
      this,
    );
    this.#requests = new RequestSender(
      network,
      this,
      { transport, oneWayUpMs, loss: upLoss, timer },
      (stream, atMs) => this.#sender.respond(stream, atMs),
    );
    this.#sender = new Sender(network, {
      connection: this,
      transport,
      baseRttMs: network.rttMs + extraRttMs,
      control: createCongestionControl(settings.congestionControl, transport, settings.initialWindow),
      source,
      receiver: new Receiver(network, transport, this, oneWayUpMs, counters),
      loss: downLoss,
      rtt,
      timer,
      counters,
    });
  }

  /** Whether the handshake is over. */
  get confirmed(): boolean {
    return this.#handshake.confirmed;
  }

  /** Resolves the name and starts the handshake; the owner hears when it is done. */
  connect(): void {
    const { events, trace } = this.#network;
    trace?.opening(this, events.now);
    this.#handshake.start(events.now + this.#settings.dnsMs);
  }

  onReady(): void {
    this.open = true;
    this.#network.trace?.open(this, this.#network.events.now);
    this.#owner.onOpen(this);
  }

  onConfirmed(): void {
    this.#owner.onConfirmed?.();
  }

  /** Sends a request; its response arrives at the stream's owner. */
  request(stream: Stream): void {
    const { events, trace } = this.#network;
    stream.sentMs = events.now;
    trace?.request(this, stream, events.now);
    stream.order = this.#settings.orderedBy === 'stream' ? new ByteOrder() : this.#order;
    // Early data is of no use to the server before the ClientHello.
    this.#requests.send(stream, this.#handshake.atServerMs);
  }
}
