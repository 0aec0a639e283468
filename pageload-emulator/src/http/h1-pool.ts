import { MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import { Connection, type ConnectionOwner, type ConnectionSettings } from '../transport/connection.ts';
import type { EventHandler } from '../transport/event-queue.ts';
import type { SimulationContext } from '../transport/simulation-context.ts';
import type { Stream } from '../transport/stream.ts';
import { backupAfterMs } from './backup-connection.ts';
import { addCounters, emptyCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import { SingleSource } from './response-source.ts';
import type { SocketHolder, SocketLimit } from './socket-limit.ts';
import { UrgencyQueue } from './urgency-queue.ts';

const BACKUP = 0;

/** An open connection of the pool, idle or with one request. */
interface Slot {
  connection: Connection;
  stream: Stream | null;
  /** Whether it has carried a request. */
  used: boolean;
}

/**
 * HTTP/1.1: up to six connections (`MAX_CONNECTIONS_PER_HOST`), opened as requests come, with one request at a time on each.
 * The most urgent request takes the first connection that is ready, new or free again (Chromium's late binding). When the
 * first connection has not answered for a while, a backup connection is opened.
 */
export class H1Pool implements OriginClient, ConnectionOwner, SocketHolder, EventHandler {
  readonly #context: SimulationContext;
  readonly #settings: ConnectionSettings;
  readonly #resolve: () => number;
  readonly #sockets: SocketLimit;
  /** Open connections. */
  readonly #slots: Slot[] = [];
  readonly #waiting = new UrgencyQueue();
  readonly #counters = emptyCounters();
  readonly #onOpen: (() => void) | null;
  /** Connections being opened, the oldest first. */
  readonly #connecting: Connection[] = [];
  #idle: Slot[] = [];

  /**
   * @param resolve resolves the host's name and returns how long that takes, milliseconds
   * @param onOpen called when the first connection is open
   */
  constructor(
    context: SimulationContext,
    settings: ConnectionSettings,
    resolve: () => number,
    sockets: SocketLimit,
    onOpen: (() => void) | null = null,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#resolve = resolve;
    this.#sockets = sockets;
    this.#onOpen = onOpen;
  }

  get open(): boolean {
    return this.#slots.length > 0;
  }

  get wanted(): number | null {
    return this.#mayOpen() ? this.#waiting.urgency : null;
  }

  connect(): void {
    if (this.#count === 0) this.#open();
  }

  fetch(stream: Stream): void {
    this.#counters.requests++;
    this.#waiting.push(stream);
    this.#dispatch();
  }

  onOpen(connection: Connection): void {
    this.#connecting.splice(this.#connecting.indexOf(connection), 1);
    const slot: Slot = { connection, stream: null, used: false };
    this.#slots.push(slot);
    this.#idle.push(slot);
    if (this.#slots.length === 1) this.#onOpen?.();
    this.#dispatch();
  }

  done(stream: Stream): void {
    const slot = this.#slots.find((candidate) => candidate.stream === stream)!;
    slot.stream = null;
    this.#idle.push(slot);
    this.#dispatch();
  }

  closeIdle(): boolean {
    const slot = this.#idle.shift();
    if (slot === undefined) return false;
    this.#slots.splice(this.#slots.indexOf(slot), 1);
    addCounters(this.#counters, slot.connection.counters);
    return true;
  }

  onSocket(): void {
    this.#begin();
    this.#dispatch();
  }

  /** Opens a backup connection if the first has not answered. */
  handle(): void {
    const oldest = this.#connecting[0];
    if (oldest === undefined || oldest.answered || this.#waiting.length === 0) return;
    if (this.#count < MAX_CONNECTIONS_PER_HOST) this.#open();
  }

  counters(): OriginCounters {
    const counters = { ...this.#counters };
    for (const { connection } of this.#slots) addCounters(counters, connection.counters);
    return counters;
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      // The connection used last has the largest window.
      const slot = this.#idle.pop()!;
      slot.stream = this.#waiting.shift()!;
      this.#note(slot);
      slot.used = true;
      slot.connection.request(slot.stream);
    }
    while (this.#mayOpen() && this.#open());
    if (this.#idle.length > 0) this.#sockets.idle(this);
  }

  /** Connections, open or being opened. */
  get #count(): number {
    return this.#connecting.length + this.#slots.length;
  }

  #mayOpen(): boolean {
    return this.#connecting.length < this.#waiting.length && this.#count < MAX_CONNECTIONS_PER_HOST;
  }

  #open(): boolean {
    if (!this.#sockets.take(this)) return false;
    this.#begin();
    return true;
  }

  #begin(): void {
    const dnsMs = this.#resolve();
    const connection = new Connection(this.#context, this.#settings, this, new SingleSource());
    const { events } = this.#context;
    if (this.#count === 0) events.scheduleRare(events.now + backupAfterMs(dnsMs), this, BACKUP);
    this.#counters.connections++;
    this.#connecting.push(connection);
    connection.connect(dnsMs);
  }

  /** Counts what the request of `slot` waited for: a handshake, or a free connection. */
  #note(slot: Slot): void {
    const waitedMs = this.#context.events.now - slot.stream!.startMs;
    if (waitedMs <= 0) return;
    if (!slot.used) {
      this.#counters.waitedForHandshake++;
      this.#counters.handshakeMs += waitedMs;
    } else {
      this.#counters.waitedForConnection++;
      this.#counters.connectionWaitMs += waitedMs;
    }
  }
}
