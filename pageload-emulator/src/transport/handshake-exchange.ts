import type { ConnectionState } from './connection-state.ts';
import type { EventHandler } from './event-queue.ts';
import type { HandshakeRound } from './handshake.ts';
import type { SimulationContext } from './simulation-context.ts';

/** Time to the first retry of a lost handshake packet: RFC 6298 section 2.1 for SYN; Chromium's QUIC assumes a round trip of 100 ms. */
const SYN_RETRY_MS = 1_000;
const QUIC_INITIAL_RETRY_MS = 300;
/** Retries end after this, so that a path that loses everything does not retry forever. */
const MAX_LOST_MS = 60_000;

const AT_SERVER = 0;
const AT_CLIENT = 1;
const EARLY = 2;
const START = 3;

/** Is notified of a handshake's progress. */
export interface HandshakeOwner {
  /** Requests may go. */
  onReady(): void;
  /** The handshake has ended, after requests were allowed early. */
  onConfirmed(): void;
}

/** Runs the round trips that open a connection, one after the other. */
export class HandshakeExchange implements EventHandler {
  /** Whether the handshake has ended. */
  confirmed = false;
  /** When the client's last flight arrives at the server. */
  atServerMs = 0;
  readonly #context: SimulationContext;
  readonly #rounds: readonly HandshakeRound[];
  readonly #requestsAfter: number;
  readonly #connection: ConnectionState;
  readonly #owner: HandshakeOwner;
  #startMs = 0;
  /** Time lost to retries. */
  #retriesMs = 0;
  #round = 0;
  #abandoned = false;

  /** @param requestsAfter number of rounds that requests wait for */
  constructor(
    context: SimulationContext,
    rounds: readonly HandshakeRound[],
    requestsAfter: number,
    connection: ConnectionState,
    owner: HandshakeOwner,
  ) {
    this.#context = context;
    this.#rounds = rounds;
    this.#requestsAfter = requestsAfter;
    this.#connection = connection;
    this.#owner = owner;
  }

  /** Round trip without queueing. */
  get #baseRttMs(): number {
    return this.#context.path.rttMs / 2 + this.#connection.oneWayUpMs;
  }

  start(atMs: number): void {
    const { events } = this.#context;
    this.#startMs = atMs;
    // Until then the link carries what others send.
    if (this.#rounds.length === 0) this.confirmed = true;
    else if (atMs > events.now) events.scheduleRare(atMs, this, START);
    else this.#ask();
    if (this.#requestsAfter > 0) return;
    events.scheduleRare(atMs, this, EARLY);
    // Until its first measurement a connection that was open before, or is resumed, uses the remembered round trip (RFC 9002 section 6.2.2).
    this.#connection.rtt.sample(this.#baseRttMs, this.#baseRttMs);
  }

  /** Whether the server has answered. */
  get answered(): boolean {
    return this.#round > 0;
  }

  /** Ends the client's part; what it has sent is still answered. */
  abandon(): void {
    this.#abandoned = true;
  }

  handle(kind: number): void {
    if (kind === START) this.#ask();
    else if (kind === AT_SERVER) this.#answer();
    else if (this.#abandoned) return;
    else if (kind === AT_CLIENT) this.#endRound();
    else this.#owner.onReady();
  }

  #ask(): void {
    const { events, path } = this.#context;
    const { upBytes } = this.#rounds[this.#round]!;
    const lostMs = this.#lostMs('up', upBytes);
    this.atServerMs = path.up.serialise(events.now, upBytes) + lostMs + this.#connection.oneWayUpMs;
    events.scheduleRare(this.atServerMs, this, AT_SERVER);
  }

  #answer(): void {
    const { events, path } = this.#context;
    const { downBytes } = this.#rounds[this.#round]!;
    const lostMs = this.#lostMs('down', downBytes);
    events.scheduleRare(
      path.down.serialise(events.now, downBytes) + lostMs + path.rttMs / 2,
      this,
      AT_CLIENT,
    );
  }

  #endRound(): void {
    const { events } = this.#context;
    if (this.#round === 0) {
      // Retransmissions do not spoil the sample: answers identify what they acknowledge (RFC 7323 section 4, RFC 9002 section 5.1).
      this.#connection.rtt.sample(events.now - this.#startMs - this.#retriesMs, this.#baseRttMs);
    }
    if (++this.#round < this.#rounds.length) this.#ask();
    else this.confirmed = true;
    if (this.#round === this.#requestsAfter) this.#owner.onReady();
    else if (this.confirmed) this.#owner.onConfirmed();
  }

  /** Draws losses; returns the time lost to retries, each waiting twice as long as the one before. */
  #lostMs(way: 'up' | 'down', bytes: number): number {
    const { id, transport, packet, timer, counters } = this.#connection;
    const loss = this.#connection.loss[way];
    const packets = Math.ceil(bytes / packet.payloadBytes);
    let lost = loss.lostOf(packets);
    if (lost === null) return 0;
    let waitMs = timer.probeMs(packets);
    if (transport === 'quic') waitMs = QUIC_INITIAL_RETRY_MS;
    else if (this.#round === 0) waitMs = SYN_RETRY_MS;
    let lostMs = 0;
    while (lost !== null && lostMs <= MAX_LOST_MS) {
      counters.lost += lost.length;
      this.#context.trace?.lost(id, lost.length, 'random', this.#context.events.now);
      lostMs += waitMs;
      waitMs *= 2;
      loss.settle();
      lost = loss.lostOf(lost.length);
    }
    this.#retriesMs += lostMs;
    return lostMs;
  }
}
