/** The connections of all exchanges, and how much libcurl may buffer on them. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { localAddressChecker } from '../curl/socket-address.ts';
import { tcpSilenceReader } from '../curl/tcp-info.ts';
import { tcpResetter } from '../curl/tcp-reset.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import { HungConnections } from './hung-connections.ts';
import { OriginConnections } from './origin-connections.ts';
import {
  type ExchangeEntry,
  MAX_HELD_OF_HEALTHY_BYTES,
  type UpstreamConnection,
} from './upstream-connection.ts';

/** Above it the connection is no longer read. More than HTTP/2's own limit of 20 MiB. */
const MAX_HELD_BYTES = 24 * 1024 * 1024;

/** When all connections together hold more, only the healthy ones are read. */
const MAX_HELD_IN_ALL_BYTES = 64 * 1024 * 1024;

/**
 * How long other exchanges of a connection that is not read wait for the slowest reader. Then its exchange is ended: browsers
 * notice and repeat a response that breaks off, not one that stalls.
 */
const MAX_STALL_MS = 20_000;

/**
 * How often such a connection is read once all the same, while others wait: they get what has already arrived, and libcurl
 * buffers some 100 kB more.
 */
const TRICKLE_INTERVAL_MS = 20;

/** Time between two updates of what is held: 1.25 MB at 1 Gbit/s. */
const UPDATE_INTERVAL_MS = 10;

export interface UpstreamConnectionsSettings {
  curl: Libcurl;
  /** How long the peer of a TCP connection may acknowledge nothing. */
  hungAfterMs: number;
  onFault: (fault: Error) => void;
  /** libcurl has processed the events of a connection. */
  onActed: () => void;
}

export interface ConnectionRequirements {
  protocol: Protocol;
  /** Exchanges of the same origin share connections. */
  origin: string;
  /** A connection of its own, opened for it and closed after it: name and certificate are looked up anew. */
  fresh: boolean;
}

interface Watch {
  connections: OriginConnections;
  updatedMs: number;
  /** Both run while the connection is not read. */
  stallTimer: NodeJS.Timeout | null;
  trickle: NodeJS.Timeout | null;
}

export class UpstreamConnections {
  readonly #curl: Libcurl;
  readonly #onFault: (fault: Error) => void;
  readonly #onActed: () => void;
  readonly #origins = new Map<string, OriginConnections>();
  readonly #originOf = new Map<ExchangeTransfer, OriginConnections>();
  readonly #watched = new Map<UpstreamConnection, Watch>();
  readonly #hung: HungConnections;
  /** By origin: how many streams it allows on a connection. */
  readonly #streamLimits = new Map<string, number>();
  #freshOnes = 0;

  constructor({ curl, hungAfterMs, onFault, onActed }: UpstreamConnectionsSettings) {
    this.#curl = curl;
    this.#onFault = onFault;
    this.#onActed = onActed;
    this.#hung = new HungConnections({
      limitMs: hungAfterMs,
      sockets: () => this.#sockets(),
      read: tcpSilenceReader(),
      hasAddress: localAddressChecker(),
      reset: tcpResetter(),
    });
  }

  /** @param done as `ExchangeEntry.done`. */
  add(
    { protocol, origin, fresh }: ConnectionRequirements,
    transfer: ExchangeTransfer,
    done: ExchangeEntry['done'],
  ): void {
    const key = `${protocol} ${origin}${fresh ? ` ${this.#freshOnes++}` : ''}`;
    let connections = this.#origins.get(key);
    if (!connections) {
      connections = this.#connectionsTo(key, { protocol, origin, fresh });
      this.#origins.set(key, connections);
    }
    this.#originOf.set(transfer, connections);
    this.#hung.watch();
    connections.add({
      transfer,
      sinceMs: performance.now(),
      done: (code, message) => {
        this.#originOf.delete(transfer);
        done(code, message);
      },
    });
  }

  remove(transfer: ExchangeTransfer): void {
    const connections = this.#originOf.get(transfer);
    if (!connections) return;
    const connection = connections.connectionOf(transfer);
    this.#originOf.delete(transfer);
    connections.remove(transfer);
    if (connection && connection.held.bytes > 0) this.#updateHeld(connection);
  }

  /** Never from a callback of libcurl. */
  runDue(transfer: ExchangeTransfer): void {
    this.#originOf.get(transfer)?.connectionOf(transfer)?.runDue();
  }

  /** Has libcurl start what was added now. Never from a callback of libcurl. */
  runDeferred(): void {
    for (const connection of this.#watched.keys()) connection.runDeferred();
  }

  /** The reader of a response has consumed bytes. */
  onReaderProgress(transfer: ExchangeTransfer): void {
    const connection = this.#originOf.get(transfer)?.connectionOf(transfer);
    if (connection && connection.held.bytes > 0) this.#updateHeld(connection);
  }

  #sockets(): number[] | null {
    if (this.#originOf.size === 0) return null;
    return [...this.#watched.keys()].flatMap((connection) => connection.sockets);
  }

  #connectionsTo(key: string, { protocol, origin, fresh }: ConnectionRequirements): OriginConnections {
    const connections = new OriginConnections({
      curl: this.#curl,
      protocol,
      fresh,
      streamLimit: () => this.#streamLimits.get(origin) ?? null,
      onStreamLimit: (streams) => this.#streamLimits.set(origin, Math.max(1, streams)),
      onFault: this.#onFault,
      onOpened: (connection) =>
        this.#watched.set(connection, { connections, updatedMs: 0, stallTimer: null, trickle: null }),
      onActed: (connection) => this.#onActedOn(connection),
      onClosed: (connection) => {
        this.#stopTimers(connection);
        this.#watched.delete(connection);
        if (connections.isEmpty) this.#origins.delete(key);
      },
    });
    return connections;
  }

  #onActedOn(connection: UpstreamConnection): void {
    const updatedMs = this.#watched.get(connection)?.updatedMs;
    if (updatedMs !== undefined && performance.now() - updatedMs >= UPDATE_INTERVAL_MS)
      this.#updateHeld(connection);
    this.#onActed();
  }

  #updateHeld(connection: UpstreamConnection): void {
    const watch = this.#watched.get(connection);
    if (!watch) return;
    watch.updatedMs = performance.now();
    const held = connection.transfers.map((transfer) => transfer.heldBytes());
    connection.held = { maxBytes: Math.max(0, ...held), bytes: held.reduce((sum, bytes) => sum + bytes, 0) };
    const all = [...this.#watched.keys()];
    const inAll = all.reduce((sum, { held: { bytes } }) => sum + bytes, 0);
    const limit = inAll > MAX_HELD_IN_ALL_BYTES ? MAX_HELD_OF_HEALTHY_BYTES : MAX_HELD_BYTES;
    for (const other of all) this.#setReading(other, other.held.maxBytes <= limit);
    if (connection.isHealthy) watch.connections.dispatch();
  }

  #setReading(connection: UpstreamConnection, reading: boolean): void {
    connection.setReading(reading);
    const watch = this.#watched.get(connection)!;
    if (reading) this.#stopTimers(connection);
    else {
      watch.stallTimer ??= setTimeout(() => this.#onStall(connection), MAX_STALL_MS);
      watch.trickle ??= setInterval(() => {
        if (!allAreHeld(connection)) connection.readOnce();
      }, TRICKLE_INTERVAL_MS);
    }
  }

  #stopTimers(connection: UpstreamConnection): void {
    const watch = this.#watched.get(connection);
    if (!watch) return;
    if (watch.stallTimer) clearTimeout(watch.stallTimer);
    if (watch.trickle) clearInterval(watch.trickle);
    watch.stallTimer = null;
    watch.trickle = null;
  }

  #onStall(connection: UpstreamConnection): void {
    this.#stopTimers(connection);
    if (!allAreHeld(connection)) {
      const slowest = connection.transfers.reduce((slow, transfer) =>
        transfer.heldBytes() > slow.heldBytes() ? transfer : slow,
      );
      connection.giveUp(slowest, CODE.TOO_LARGE);
    }
    this.#updateHeld(connection);
  }
}

function allAreHeld({ transfers }: UpstreamConnection): boolean {
  return transfers.every((transfer) => transfer.heldBytes() > 0);
}
