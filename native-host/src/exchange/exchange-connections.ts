/** The connections of all exchanges: a pool for each origin and protocol. */
import type { Protocol } from '@hopwise/contract';
import type { Libcurl } from '../curl/libcurl.ts';
import { localAddressChecker, networkSocketChecker } from '../curl/socket-address.ts';
import { tcpSilenceReader } from '../curl/tcp-info.ts';
import { tcpResetter } from '../curl/tcp-reset.ts';
import { BufferLimits } from './buffer-limits.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { ReleaseOrder } from './exchange-order.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import { HungConnections } from './hung-connections.ts';
import { RoundTripEstimate } from './round-trip-estimate.ts';
import type { ExchangeEntry, UpstreamConnection } from './upstream-connection.ts';

interface ExchangeConnectionsSettings {
  curl: Libcurl;
  /** How long the peer of a TCP connection may acknowledge nothing. */
  hungAfterMs: number;
  onFault: (fault: Error) => void;
  /** libcurl has processed the events of a connection. */
  onActed: () => void;
}

interface ConnectionRequirements {
  protocol: Protocol;
  /** Exchanges of the same origin and partition share connections. */
  origin: string;
  partition: string;
  /** A connection of its own, opened for it and closed after it: name and certificate are looked up anew. */
  fresh: boolean;
}

export class ExchangeConnections {
  readonly #curl: Libcurl;
  readonly #onFault: (fault: Error) => void;
  readonly #onActed: () => void;
  readonly #pools = new Map<string, ConnectionPool>();
  readonly #poolOf = new Map<ExchangeTransfer, ConnectionPool>();
  readonly #limits = new BufferLimits();
  readonly #hung: HungConnections;
  readonly #isOfNetwork = networkSocketChecker();
  /** By origin: how many streams it allows on a connection. */
  readonly #streamLimits = new Map<string, number>();
  /** By origin, over QUIC. */
  readonly #roundTrips = new Map<string, RoundTripEstimate>();
  #freshPools = 0;

  constructor({ curl, hungAfterMs, onFault, onActed }: ExchangeConnectionsSettings) {
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
    { protocol, origin, partition, fresh }: ConnectionRequirements,
    transfer: ExchangeTransfer,
    done: ExchangeEntry['done'],
  ): void {
    const key = `${protocol} ${partition} ${origin}${fresh ? ` ${this.#freshPools++}` : ''}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = this.#createPool(key, { protocol, origin, fresh });
      this.#pools.set(key, pool);
    }
    this.#poolOf.set(transfer, pool);
    this.#hung.watch();
    pool.add({
      transfer,
      sinceMs: performance.now(),
      done: (code, message) => {
        this.#poolOf.delete(transfer);
        done(code, message);
      },
    });
  }

  remove(transfer: ExchangeTransfer): void {
    const pool = this.#poolOf.get(transfer);
    if (!pool) return;
    const connection = pool.connectionOf(transfer);
    this.#poolOf.delete(transfer);
    pool.remove(transfer);
    if (connection) this.#limits.onReaderProgress(connection);
  }

  /** Closes connections to an origin as soon as they are idle. Never from a callback of libcurl. */
  release({ origin, partition }: ReleaseOrder): void {
    for (const [key, pool] of this.#pools) {
      const [, itsPartition, itsOrigin] = key.split(' ');
      if (itsOrigin === origin && (partition === null || itsPartition === partition)) pool.release();
    }
  }

  /** Never from a callback of libcurl. */
  runDue(transfer: ExchangeTransfer): void {
    this.#connectionOf(transfer)?.multi.runDue();
  }

  /** Has libcurl start what was added now. Never from a callback of libcurl. */
  runDeferred(): void {
    for (const { multi } of this.#limits.connections) multi.runDeferred();
  }

  /** The reader of a response has consumed bytes. */
  onReaderProgress(transfer: ExchangeTransfer): void {
    const connection = this.#connectionOf(transfer);
    if (connection) this.#limits.onReaderProgress(connection);
  }

  #connectionOf(transfer: ExchangeTransfer): UpstreamConnection | null {
    return this.#poolOf.get(transfer)?.connectionOf(transfer) ?? null;
  }

  #sockets(): number[] | null {
    if (this.#poolOf.size === 0) return null;
    return this.#limits.connections.flatMap(({ multi }) => multi.sockets);
  }

  #createPool(
    key: string,
    { protocol, origin, fresh }: Omit<ConnectionRequirements, 'partition'>,
  ): ConnectionPool {
    const roundTrips = this.#roundTrips.get(origin) ?? new RoundTripEstimate();
    if (protocol === 'h3') this.#roundTrips.set(origin, roundTrips);
    const pool = new ConnectionPool({
      roundTrips,
      isOfNetwork: this.#isOfNetwork,
      curl: this.#curl,
      protocol,
      fresh,
      streamLimit: () => this.#streamLimits.get(origin) ?? null,
      onStreamLimit: (streams) => this.#streamLimits.set(origin, Math.max(1, streams)),
      onFault: this.#onFault,
      onOpened: (connection) => this.#limits.watch(connection, () => pool.dispatch()),
      onActed: (connection) => {
        this.#limits.onActed(connection);
        this.#onActed();
      },
      onClosed: (connection) => {
        this.#limits.unwatch(connection);
        if (pool.isEmpty) this.#pools.delete(key);
      },
    });
    return pool;
  }
}
