import {
  Connection,
  type ConnectionOwner,
  type ConnectionSettings,
  type Network,
  type TransportCounters,
} from '../transport/connection.ts';
import type { EventHandler } from '../transport/event-queue.ts';
import type { Stream } from '../transport/stream.ts';
import type { OriginCounters } from './origin-client.ts';
import { PrioritySource } from './response-source.ts';
import type { SocketHolder, SocketLimit } from './socket-limit.ts';
import { UrgencyQueue } from './urgency-queue.ts';

/** Usual SETTINGS_MAX_CONCURRENT_STREAMS and QUIC stream credit (RFC 9113 section 6.5.2 asks for at least this). */
export const USUAL_MAX_STREAMS = 100;
/** Chromium opens no more on HTTP/2 whatever the server allows (`kMaxConcurrentStreamLimit`). */
const CHROMIUM_MOST_STREAMS = 256;
/** What HPACK and QPACK leave of a request's header fields once its like has gone before (RFC 7541, RFC 9204). */
const REPEATED_HEADER_SHARE = 0.25;
const SMALLEST_REQUEST_BYTES = 50;
/** Header fields up to here are compressed; what exceeds it is a body. */
const MOST_HEADER_BYTES = 2_000;

export interface SessionSettings {
  connection: ConnectionSettings;
  /** Whether the server goes by the client's priorities. */
  prioritised: boolean;
  /** Requests that the server lets be under way at once. */
  maxStreams: number;
}

const CREDIT = 0;

/**
 * One HTTP/2 (RFC 9113) or HTTP/3 (RFC 9114) connection: all requests at once, up to the server's limit. They
 * differ in the transport's handshake, in what a lost packet holds up, and in when a request that ended makes room for
 * another: at once over TCP, in order of urgency; over QUIC when the server has given new credit (RFC 9000 section
 * 4.6), a round trip later, in order of asking.
 */
export class Session implements ConnectionOwner, SocketHolder, EventHandler {
  readonly #network: Network;
  readonly #connection: Connection;
  readonly #sockets: SocketLimit | null;
  readonly #overQuic: boolean;
  readonly #creditMs: number;
  readonly #maxStreams: number;
  readonly #onOpen: (() => void) | null;
  /** Before the connection is open, with the counters of their origins. */
  #early: { stream: Stream; counters: OriginCounters }[] = [];
  /** With bodies, which must not go as early data. */
  #unsafe: Stream[] = [];
  readonly #waiting = new UrgencyQueue();
  #active = 0;
  #sent = 0;
  /** When the credit of each ended request comes back, ascending, from `#returned` on. */
  readonly #creditAtMs: number[] = [];
  #returned = 0;
  #creditScheduled = false;

  /**
   * @param sockets the browser's TCP sockets; null over QUIC
   * @param onOpen hears when requests may go
   */
  constructor(
    network: Network,
    settings: SessionSettings,
    sockets: SocketLimit | null,
    onOpen: (() => void) | null = null,
  ) {
    const { connection, prioritised, maxStreams } = settings;
    this.#network = network;
    this.#connection = new Connection(network, connection, this, new PrioritySource(prioritised));
    this.#sockets = sockets;
    this.#overQuic = connection.transport === 'quic';
    this.#creditMs = this.#overQuic ? network.rttMs + connection.extraRttMs : 0;
    this.#maxStreams = this.#overQuic ? maxStreams : Math.min(CHROMIUM_MOST_STREAMS, maxStreams);
    this.#onOpen = onOpen;
  }

  get open(): boolean {
    return this.#connection.open;
  }

  get wanted(): number {
    return this.#early[0]?.stream.urgency ?? 0;
  }

  get transportCounters(): TransportCounters {
    return this.#connection.counters;
  }

  connect(): void {
    if (this.#sockets === null || this.#sockets.take(this)) this.#connection.connect();
  }

  onSocket(): void {
    this.#connection.connect();
  }

  /** A session in use is never closed for another's sake. */
  closeIdle(): boolean {
    return false;
  }

  /** @param counters of the request's origin */
  fetch(stream: Stream, counters: OriginCounters): void {
    if (!this.#connection.open) this.#early.push({ stream, counters });
    else this.#admit(stream);
  }

  onOpen(): void {
    const { now } = this.#network.events;
    const early = this.#early;
    this.#early = [];
    for (const { stream, counters } of early) {
      counters.waitedForHandshake++;
      counters.handshakeMs += now - stream.startMs;
      this.#admit(stream);
    }
    this.#onOpen?.();
  }

  onConfirmed(): void {
    const unsafe = this.#unsafe;
    this.#unsafe = [];
    for (const stream of unsafe) this.#admit(stream);
  }

  /** A response is whole. */
  done(): void {
    if (!this.#overQuic) {
      this.#active--;
      this.#sendWaiting();
      return;
    }
    // Credit matters only where a page opens more than the server lets it at first.
    this.#creditAtMs.push(this.#network.events.now + this.#creditMs);
    this.#awaitCredit();
  }

  handle(kind: number): void {
    if (kind !== CREDIT) return;
    this.#creditScheduled = false;
    this.#sendWaiting();
    this.#awaitCredit();
  }

  #admit(stream: Stream): void {
    if (!this.#connection.confirmed && stream.requestBytes > MOST_HEADER_BYTES) this.#unsafe.push(stream);
    else if (this.#hasRoom()) this.#request(stream);
    else {
      this.#waiting.push(stream, this.#overQuic ? 0 : stream.urgency);
      this.#awaitCredit();
    }
  }

  #hasRoom(): boolean {
    if (this.#active < this.#maxStreams) return true;
    const { now } = this.#network.events;
    while (this.#returned < this.#creditAtMs.length && this.#creditAtMs[this.#returned]! <= now) {
      this.#returned++;
      this.#active--;
    }
    return this.#active < this.#maxStreams;
  }

  #awaitCredit(): void {
    if (this.#creditScheduled || this.#waiting.length === 0) return;
    const atMs = this.#creditAtMs[this.#returned];
    if (atMs === undefined) return;
    this.#creditScheduled = true;
    this.#network.events.schedule(atMs, this, CREDIT);
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#request(this.#waiting.shift()!);
  }

  #request(stream: Stream): void {
    this.#active++;
    if (this.#sent++ > 0) stream.requestBytes = compressed(stream.requestBytes);
    this.#connection.request(stream);
  }
}

function compressed(requestBytes: number): number {
  const header = Math.min(requestBytes, MOST_HEADER_BYTES);
  const body = requestBytes - header;
  return Math.max(SMALLEST_REQUEST_BYTES, Math.ceil(header * REPEATED_HEADER_SHARE)) + body;
}
