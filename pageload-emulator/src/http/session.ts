import { MAX_CONCURRENT_STREAMS, MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import { Connection, type ConnectionOwner, type ConnectionSettings } from '../transport/connection.ts';
import type { EventHandler } from '../transport/event-queue.ts';
import type { SimulationContext } from '../transport/simulation-context.ts';
import type { Stream } from '../transport/stream.ts';
import type { TransportCounters } from '../transport/transport-counters.ts';
import { backupAfterMs } from './backup-connection.ts';
import { addCounters, type OriginCounters } from './origin-client.ts';
import { PrioritySource } from './response-source.ts';
import type { SocketHolder, SocketLimit } from './socket-limit.ts';
import { UrgencyQueue } from './urgency-queue.ts';

/** Usual SETTINGS_MAX_CONCURRENT_STREAMS and QUIC stream credit (RFC 9113 section 6.5.2 recommends at least this). */
export const USUAL_MAX_STREAMS = 100;
/** Compressed size of a request's header fields after similar requests, by HPACK and QPACK (RFC 7541, RFC 9204). */
const REPEATED_HEADER_SHARE = 0.25;
const MIN_REQUEST_BYTES = 50;
/** Bytes of a request up to here are taken to be header fields, further ones to be a body. */
const MAX_HEADER_BYTES = 2_000;

interface SessionSettings {
  connection: ConnectionSettings;
  /** Resolves the host's name; returns how long that takes, milliseconds. */
  resolve: () => number;
  /** Whether the server follows the client's priorities. */
  prioritised: boolean;
  /** Concurrent requests that the server allows. */
  maxStreams: number;
  /** Whether the server is known to multiplex before there is a connection. */
  known: boolean;
}

const CREDIT = 0;
const BACKUP = 1;

/**
 * One HTTP/2 (RFC 9113) or HTTP/3 (RFC 9114) connection, on which requests are concurrent up to the server's limit. The two
 * differ in the handshake, in what a lost packet holds up, and in when a request beyond the limit may go: over TCP, by
 * urgency, as soon as another has ended; over QUIC, in order of arrival, when the server's new credit has come a round trip
 * later (RFC 9000 section 4.6).
 *
 * A browser that does not know that a server speaks HTTP/2 opens a TCP connection for each early request, up to six, until
 * one is ready; the others are abandoned. (Observed with Chromium 156, whose `HttpStreamFactory::Job` waits for another
 * connection only where HTTP/2 is known.)
 */
export class Session implements ConnectionOwner, SocketHolder, EventHandler {
  readonly #context: SimulationContext;
  readonly #settings: SessionSettings;
  readonly #source: PrioritySource;
  readonly #sockets: SocketLimit | null;
  readonly #overQuic: boolean;
  readonly #creditMs: number;
  readonly #maxStreams: number;
  readonly #onOpen: (() => void) | null;
  /** Connections that are being opened or were abandoned, and the one that was ready first. */
  #attempts: Connection[] = [];
  /** Connections from before the session was closed to free a socket. */
  readonly #past: Connection[] = [];
  #connection: Connection | null = null;
  /** Requests that wait for the connection to open, with the counters of their origins. */
  #early: { stream: Stream; counters: OriginCounters }[] = [];
  /** Requests with bodies, which must not go as early data. */
  #unsafe: Stream[] = [];
  readonly #waiting = new UrgencyQueue();
  #active = 0;
  #sent = 0;
  /** When the credit of each ended request returns, ascending; those before `#returned` have. */
  readonly #creditAtMs: number[] = [];
  #returned = 0;
  #creditScheduled = false;

  /**
   * @param sockets the browser's limit on TCP sockets; null over QUIC
   * @param onOpen called when requests may go
   */
  constructor(
    context: SimulationContext,
    settings: SessionSettings,
    sockets: SocketLimit | null,
    onOpen: (() => void) | null = null,
  ) {
    const { connection, prioritised, maxStreams } = settings;
    this.#context = context;
    this.#settings = settings;
    this.#source = new PrioritySource(prioritised);
    this.#sockets = sockets;
    this.#overQuic = connection.transport === 'quic';
    this.#creditMs = this.#overQuic ? context.path.rttMs + connection.extraRttMs : 0;
    this.#maxStreams = this.#overQuic ? maxStreams : Math.min(MAX_CONCURRENT_STREAMS, maxStreams);
    this.#onOpen = onOpen;
  }

  /** Whether it is open, or was open and reopens on the next request. */
  get open(): boolean {
    return this.#connection !== null || this.#past.length > 0;
  }

  get wanted(): number | null {
    return this.#connection !== null ? null : (this.#early[0]?.stream.urgency ?? 0);
  }

  /** Adds the counters of its connections. */
  addCounters<T extends TransportCounters>(to: T): T {
    for (const { counters } of [...this.#past, ...this.#attempts]) addCounters(to, counters);
    return to;
  }

  connect(): void {
    if (this.#sockets !== null && !this.#sockets.take(this)) return;
    this.#attempt();
  }

  onSocket(): void {
    this.#attempt();
  }

  /** Closes the connection if it has no requests, as Chromium's `SpdySession::CloseOneIdleConnection`. */
  closeIdle(): boolean {
    const inUse = this.#active > 0 || this.#waiting.length > 0 || this.#unsafe.length > 0;
    if (this.#connection === null || inUse) return false;
    this.#past.push(...this.#attempts);
    this.#attempts = [];
    this.#connection = null;
    this.#sent = 0;
    return true;
  }

  /** @param counters of the request's origin */
  fetch(stream: Stream, counters: OriginCounters): void {
    if (this.#connection !== null) {
      this.#admit(stream, this.#connection);
      return;
    }
    this.#early.push({ stream, counters });
    if (this.#past.length > 0 && this.#attempts.length === 0) this.connect();
    if (this.#overQuic || this.#settings.known) return;
    if (this.#early.length > this.#attempts.length) this.#attemptAnother();
  }

  onOpen(connection: Connection): void {
    this.#connection = connection;
    for (const attempt of this.#attempts) {
      if (attempt === connection) continue;
      attempt.abandon();
      this.#sockets?.release(this);
    }
    const { now } = this.#context.events;
    const early = this.#early;
    this.#early = [];
    for (const { stream, counters } of early) {
      counters.waitedForHandshake++;
      counters.handshakeMs += now - stream.startMs;
      this.#admit(stream, connection);
    }
    if (this.#past.length === 0) this.#onOpen?.();
    if (this.#active === 0) this.#sockets?.idle(this);
  }

  onConfirmed(): void {
    const unsafe = this.#unsafe;
    this.#unsafe = [];
    for (const stream of unsafe) this.#admit(stream, this.#connection!);
  }

  /** Must be called when a response is complete. */
  done(): void {
    if (!this.#overQuic) {
      this.#active--;
      this.#sendWaiting();
      if (this.#active === 0) this.#sockets?.idle(this);
      return;
    }
    // Credit matters only when a page makes more requests than the server's initial limit.
    this.#creditAtMs.push(this.#context.events.now + this.#creditMs);
    this.#awaitCredit();
  }

  handle(kind: number): void {
    if (kind === BACKUP) {
      const isOpening = this.#connection === null && this.#attempts.length > 0;
      if (isOpening && !this.#attempts[0]!.answered) this.#attemptAnother();
      return;
    }
    this.#creditScheduled = false;
    this.#sendWaiting();
    this.#awaitCredit();
  }

  #attempt(): void {
    const { connection, resolve } = this.#settings;
    const nth = this.#attempts.length;
    const dnsMs = resolve();
    const attempt = new Connection(this.#context, connection, this, this.#source);
    this.#attempts.push(attempt);
    attempt.connect(dnsMs);
    if (nth > 0 || this.#overQuic) return;
    const { events } = this.#context;
    events.scheduleRare(events.now + backupAfterMs(dnsMs), this, BACKUP);
  }

  #attemptAnother(): void {
    if (this.#attempts.length > 0 && this.#attempts.length < MAX_CONNECTIONS_PER_HOST) this.connect();
  }

  #admit(stream: Stream, connection: Connection): void {
    if (!connection.confirmed && stream.requestBytes > MAX_HEADER_BYTES) this.#unsafe.push(stream);
    else if (this.#hasRoom()) this.#request(stream, connection);
    else {
      this.#waiting.push(stream, this.#overQuic ? 0 : stream.urgency);
      this.#awaitCredit();
    }
  }

  #hasRoom(): boolean {
    if (this.#active < this.#maxStreams) return true;
    const { now } = this.#context.events;
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
    this.#context.events.scheduleRare(atMs, this, CREDIT);
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      this.#request(this.#waiting.shift()!, this.#connection!);
    }
  }

  #request(stream: Stream, connection: Connection): void {
    this.#active++;
    if (this.#sent++ > 0) stream.requestBytes = compressed(stream.requestBytes);
    connection.request(stream);
  }
}

function compressed(requestBytes: number): number {
  const header = Math.min(requestBytes, MAX_HEADER_BYTES);
  const body = requestBytes - header;
  return Math.max(MIN_REQUEST_BYTES, Math.ceil(header * REPEATED_HEADER_SHARE)) + body;
}
