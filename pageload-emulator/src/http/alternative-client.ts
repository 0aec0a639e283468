import type { EventHandler, EventQueue } from '../transport/event-queue.ts';
import type { Stream, StreamOwner } from '../transport/stream.ts';
import { addOriginCounters, type OriginClient, type OriginCounters } from './origin-client.ts';

/** Delay of Chromium's TCP connection when QUIC is known to work and nothing is known of the server (`GetTimeDelayForWaitingJob`). */
const TCP_DELAY_MS = 300;

/** What a browser knows of QUIC on this network. */
interface QuicExperience {
  /** Whether a QUIC handshake has succeeded. */
  worked: boolean;
}

/** What a browser knows of one origin's HTTP/3 support. */
export interface Http3Knowledge {
  /** Whether the browser knows that the origin offers HTTP/3. */
  known: boolean;
}

/** The two ways to reach an origin; each calls `onOpen` when it is open. */
interface Alternatives {
  /** Resolves the host's name; returns how long that takes, milliseconds. */
  resolve(): number;
  quic(onOpen: () => void): OriginClient;
  tcp(onOpen: () => void): OriginClient;
}

const START_TCP = 0;
const REFUSED = 1;

/**
 * Client of an origin whose HTTP/3 support the browser has yet to discover, or whose QUIC handshake fails (Chromium's
 * `HttpStreamFactory::JobController`).
 *
 * - Until HTTP/3 is known, requests go over TCP; the first response's `Alt-Svc` announces HTTP/3 (RFC 7838).
 * - From then on an open QUIC connection takes every request. It is opened for the next request, or by Firefox at once. While it is
 *   being opened, an open HTTP/2 connection takes requests at once. Without either, TCP is opened in parallel, delayed when QUIC is known to work, and the connection that
 *   opens first takes the waiting requests.
 * - Over HTTP/1.1 all waiting requests go to the pool when its first connection opens.
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
  readonly #opensAnnounced: boolean;
  readonly #overQuic = new Set<Stream>();
  #page: StreamOwner | null = null;
  /** Requests that wait for the first connection to open. */
  #racing: Stream[] = [];
  #tried = false;
  #failed = false;
  #tcpScheduled = false;

  /**
   * @param handshake how the origin's QUIC handshakes end
   * @param refusalMs how long a refusal takes after the name is resolved, milliseconds
   * @param opensAnnounced `PageGraph.opensAnnouncedH3`
   */
  constructor(
    events: EventQueue,
    alternatives: Alternatives,
    knowledge: Http3Knowledge,
    experience: QuicExperience,
    handshake: 'open' | 'refused' | 'silent',
    refusalMs: number,
    opensAnnounced: boolean,
  ) {
    this.#events = events;
    this.#knowledge = knowledge;
    this.#experience = experience;
    this.#handshake = handshake;
    this.#resolve = () => alternatives.resolve();
    this.#refusalMs = refusalMs;
    this.#opensAnnounced = opensAnnounced;
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

  /** Learns of HTTP/3 from the first response's `Alt-Svc`, and hands the response on. */
  onData(stream: Stream): void {
    this.#knowledge.known = true;
    if (this.#opensAnnounced) this.#tryQuic();
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
