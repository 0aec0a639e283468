import {
  Connection,
  type ConnectionOwner,
  type ConnectionSettings,
  type Network,
} from '../transport/connection.ts';
import type { Stream } from '../transport/stream.ts';
import { addCounters, emptyCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import { SingleSource } from './response-source.ts';

/** Chromium and Firefox: connections to one host (Chromium's `g_max_sockets_per_group`). */
export const MAX_CONNECTIONS_PER_HOST = 6;

/** What a pooled connection is doing: nothing, or one request. */
interface Slot {
  connection: Connection;
  stream: Stream | null;
  /** Whether it has carried a request. */
  used: boolean;
}

/**
 * HTTP/1.1: up to six connections, opened as requests come, one request at a time on each. A
 * request takes whichever connection is ready first, a new one or one that became free; the most
 * urgent request first (Chromium's late binding).
 */
export class H1Pool implements OriginClient, ConnectionOwner {
  readonly #network: Network;
  readonly #settings: ConnectionSettings;
  readonly #slots: Slot[] = [];
  readonly #waiting: Stream[] = [];
  readonly #counters = emptyCounters();
  #connecting = 0;
  /** Set while a connection is being opened, for which `onOpen` comes later. */
  #idle: Slot[] = [];

  constructor(network: Network, settings: ConnectionSettings) {
    this.#network = network;
    this.#settings = settings;
  }

  fetch(stream: Stream): void {
    this.#counters.requests++;
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]!.urgency > stream.urgency) at--;
    this.#waiting.splice(at, 0, stream);
    this.#dispatch();
  }

  onOpen(connection: Connection): void {
    this.#connecting--;
    const slot: Slot = { connection, stream: null, used: false };
    this.#slots.push(slot);
    this.#idle.push(slot);
    this.#dispatch();
  }

  done(stream: Stream): void {
    const slot = this.#slots.find((candidate) => candidate.stream === stream)!;
    slot.stream = null;
    this.#idle.push(slot);
    this.#dispatch();
  }

  counters(): OriginCounters {
    const counters = { ...this.#counters };
    for (const { connection } of this.#slots) addCounters(counters, connection.counters);
    return counters;
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      // The warmest connection: the one used last.
      const slot = this.#idle.pop()!;
      slot.stream = this.#waiting.shift()!;
      this.#count(slot);
      slot.used = true;
      slot.connection.request(slot.stream);
    }
    while (
      this.#connecting < this.#waiting.length &&
      this.#connecting + this.#slots.length < MAX_CONNECTIONS_PER_HOST
    ) {
      this.#open();
    }
  }

  #open(): void {
    const seed = this.#settings.seed + Math.imul(this.#counters.connections, 0x9e3779b1);
    const dnsMs = this.#counters.connections === 0 ? this.#settings.dnsMs : 0;
    const connection = new Connection(
      this.#network,
      { ...this.#settings, seed, dnsMs },
      this,
      new SingleSource(),
    );
    this.#counters.connections++;
    this.#connecting++;
    connection.connect();
  }

  /** What the request that now takes `slot` waited for: its handshake, or the one before it. */
  #count(slot: Slot): void {
    const waitedMs = this.#network.events.now - slot.stream!.startMs;
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
