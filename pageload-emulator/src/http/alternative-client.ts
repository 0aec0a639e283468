import type { EventHandler, EventQueue } from '../transport/event-queue.ts';
import type { Stream, StreamOwner } from '../transport/stream.ts';
import { addOriginCounters, type OriginClient, type OriginCounters } from './origin-client.ts';

/** How long Chromium's TCP connection waits for QUIC where QUIC is known to work and nothing of the server (`GetTimeDelayForWaitingJob`). */
const TCP_DELAY_MS = 300;

/** What a browser knows of QUIC on this network. */
export interface QuicExperience {
  /** Whether a QUIC handshake has succeeded. */
  worked: boolean;
}

/** What a browser knows of one origin's HTTP/3. */
export interface Http3Knowledge {
  /** Whether it may be tried. */
  known: boolean;
}

/** The two ways to an origin. Each calls back when it is open. */
export interface Alternatives {
  /** Asks for the host's address and returns how long that takes. */
  resolve(): number;
  quic(onOpen: () => void): OriginClient;
  tcp(onOpen: () => void): OriginClient;
}

const START_TCP = 0;
const REFUSED = 1;

/**
 * An origin that speaks HTTP/3 which the browser has yet to find out, or whose QUIC handshake fails: Chromium's
 * `HttpStreamFactory::JobController`.
 *
 * - Without knowledge requests go over TCP; the first response's headers tell of HTTP/3 (RFC 7838).
 * - With it, an open QUIC connection takes every request. While there is none, it is being opened; an open HTTP/2
 *   connection takes the requests of that time at once. Without either, TCP is opened beside it, later where
 *   QUIC is known to work, and the first to be open takes what waits.
 * - Over HTTP/1.1 all that waits goes to the pool when its first connection is open.
 */
export class AlternativeClient implements OriginClient, StreamOwner, EventHandler {
  readonly #events: EventQueue;
  readonly #quic: OriginClient;
  readonly #tcp: OriginClient;
  readonly #knowledge: Http3Knowledge;
  readonly #experience: QuicExperience;
  readonly #handshake: 'open' | 'refused' | 'silent';
  readonly #resolve: () => number;
  readonly #refusalMs: number;
  readonly #overQuic = new Set<Stream>();
  #page: StreamOwner | null = null;
  /** Requests that take what opens first. */
  #racing: Stream[] = [];
  #tried = false;
  #failed = false;
  #tcpScheduled = false;

  /**
   * @param handshake what becomes of its QUIC handshakes
   * @param refusalMs how long a refusal takes, once the name is resolved
   */
  constructor(
    events: EventQueue,
    alternatives: Alternatives,
    knowledge: Http3Knowledge,
    experience: QuicExperience,
    handshake: 'open' | 'refused' | 'silent',
    refusalMs: number,
  ) {
    this.#events = events;
    this.#knowledge = knowledge;
    this.#experience = experience;
    this.#handshake = handshake;
    this.#resolve = () => alternatives.resolve();
    this.#refusalMs = refusalMs;
    this.#quic = alternatives.quic(() => this.#onQuic());
    this.#tcp = alternatives.tcp(() => this.#onTcp());
  }

  get open(): boolean {
    return this.#quic.open || this.#tcp.open;
  }

  connect(): void {
    if (this.#knowledge.known) this.#tryQuic();
    else this.#tcp.connect();
  }

  fetch(stream: Stream): void {
    if (!this.#knowledge.known) {
      this.#page = stream.owner;
      stream.owner = this;
      this.#tcp.fetch(stream);
      return;
    }
    if (this.#quic.open) {
      this.#sendOverQuic(stream);
      return;
    }
    this.#tryQuic();
    if (this.#tcp.open || this.#failed) {
      this.#tcp.fetch(stream);
      return;
    }
    this.#racing.push(stream);
    const delayMs = this.#experience.worked ? TCP_DELAY_MS : 0;
    if (delayMs === 0) this.#tcp.connect();
    else if (!this.#tcpScheduled) {
      this.#tcpScheduled = true;
      this.#events.scheduleRare(this.#events.now + delayMs, this, START_TCP);
    }
  }

  /** The headers of a response have come, and with them `Alt-Svc`. */
  onData(stream: Stream): void {
    this.#knowledge.known = true;
    stream.owner = this.#page!;
    stream.owner.onData(stream);
  }

  done(stream: Stream): void {
    if (this.#overQuic.delete(stream)) this.#quic.done(stream);
    else this.#tcp.done(stream);
  }

  counters(): OriginCounters {
    return addOriginCounters(this.#tcp.counters(), this.#quic.counters());
  }

  handle(kind: number): void {
    if (kind === REFUSED) this.#failed = true;
    if (this.#racing.length > 0) this.#tcp.connect();
  }

  #tryQuic(): void {
    if (this.#tried) return;
    this.#tried = true;
    if (this.#handshake === 'open') {
      this.#quic.connect();
      return;
    }
    const atMs = this.#events.now + this.#resolve() + this.#refusalMs;
    if (this.#handshake === 'refused') this.#events.scheduleRare(atMs, this, REFUSED);
  }

  #onQuic(): void {
    this.#experience.worked = true;
    const racing = this.#racing;
    this.#racing = [];
    for (const stream of racing) this.#sendOverQuic(stream);
  }

  #onTcp(): void {
    const racing = this.#racing;
    this.#racing = [];
    for (const stream of racing) this.#tcp.fetch(stream);
  }

  #sendOverQuic(stream: Stream): void {
    this.#overQuic.add(stream);
    this.#quic.fetch(stream);
  }
}
