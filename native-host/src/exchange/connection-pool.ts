/** The connections to one origin under one protocol: assigns exchanges to them and queues the rest. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import type { RoundTripEstimate } from './round-trip-estimate.ts';
import { type ExchangeEntry, UpstreamConnection } from './upstream-connection.ts';

/** RFC 9113 section 9.1 and RFC 9114 section 3.3 want one connection to an origin, as long as it has streams. */
const MAX_HEALTHY_CONNECTIONS = 4;

/** Including those that slow readers fill. Each may fill one of its own, as it would have one over HTTP/1.1. */
const MAX_CONNECTIONS = 64;

/** How long an exchange waits for a stream before another connection is opened. */
const STREAM_WAIT_MS = 500;

/**
 * How long an idle connection is kept. Over TCP as long as libcurl itself would (`CURLOPT_MAXAGE_CONN`). Many QUIC servers give up a
 * connection after 30 s without saying so, and most middleboxes a UDP flow (RFC 9308 section 3.2): a request in that moment would be lost.
 */
const IDLE_MS = { h1: 118_000, h2: 118_000, h3: 25_000 } as const;

/** The same after the early end of its last exchange, as long as only the connection's end tells the origin. */
const IDLE_WITH_RESET_MS = 500;

/** How long it may have been idle for an HTTP/3 request that must not be repeated, which would have to wait if the server has forgotten it. */
const IDLE_BEFORE_UNREPEATABLE_MS = 10_000;

interface ConnectionPoolSettings {
  curl: Libcurl;
  protocol: Protocol;
  /** Whether the one exchange uses no existing connection, and leaves none behind. */
  fresh: boolean;
  /** Streams that the origin allowed on an earlier connection; null when there was none. */
  streamLimit: () => number | null;
  onStreamLimit: (streams: number) => void;
  onFault: (fault: Error) => void;
  onOpened: (connection: UpstreamConnection) => void;
  /** libcurl has processed its events. */
  onActed: (connection: UpstreamConnection) => void;
  onClosed: (connection: UpstreamConnection) => void;
  roundTrips: RoundTripEstimate;
  /** Passed on as `UpstreamConnectionSettings.isOfNetwork`. */
  isOfNetwork: (socket: number) => boolean;
}

export class ConnectionPool {
  readonly #settings: ConnectionPoolSettings;
  readonly #connections = new Set<UpstreamConnection>();
  readonly #connectionOf = new Map<ExchangeTransfer, UpstreamConnection>();
  /** Exchanges without a connection, in order of arrival. */
  #queue: ExchangeEntry[] = [];
  #dispatchTimer: NodeJS.Timeout | null = null;
  /** Whether its connections are not kept for further exchanges. */
  #isReleased = false;
  /** Whether nothing at all comes back from the origin over QUIC. */
  #isSilent = false;

  constructor(settings: ConnectionPoolSettings) {
    this.#settings = settings;
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#queue.length === 0;
  }

  connectionOf(transfer: ExchangeTransfer): UpstreamConnection | null {
    return this.#connectionOf.get(transfer) ?? null;
  }

  /** Closes each connection as soon as it is idle, until there is another exchange. */
  release(): void {
    this.#isReleased = true;
    for (const connection of [...this.#connections]) if (connection.isEmpty) this.#close(connection);
  }

  add(entry: ExchangeEntry): void {
    this.#isReleased = false;
    this.#queue.push(entry);
    if (this.#isSilent) entry.transfer.reportSilence(true);
    this.dispatch();
  }

  remove(transfer: ExchangeTransfer): void {
    const connection = this.#connectionOf.get(transfer);
    if (connection) {
      connection.remove(transfer);
      this.#onRemoved(connection, transfer);
    } else this.#queue = this.#queue.filter((entry) => entry.transfer !== transfer);
    this.dispatch();
  }

  /** Assigns waiting exchanges to connections with capacity. */
  dispatch(): void {
    if (this.#dispatchTimer) clearTimeout(this.#dispatchTimer);
    this.#dispatchTimer = null;
    for (;;) {
      const [next, from] = this.#nextWaiting();
      if (!next) return;
      const connection = this.#connectionFor(next);
      if (!connection) {
        this.#dispatchLater(next);
        return;
      }
      if (from) from.remove(next.transfer);
      else this.#queue.shift();
      this.#connectionOf.set(next.transfer, connection);
      connection.add(next);
    }
  }

  /** The exchange that has waited longest, and the connection whose stream it waits for; null for none. */
  #nextWaiting(): [ExchangeEntry | null, UpstreamConnection | null] {
    let first: [ExchangeEntry | null, UpstreamConnection | null] = [this.#queue[0] ?? null, null];
    for (const connection of this.#connections) {
      const entry = connection.waitsForStream;
      if (entry && (!first[0] || entry.sinceMs <= first[0].sinceMs)) first = [entry, connection];
    }
    return first;
  }

  /** null while the exchange has to wait. */
  #connectionFor({ sinceMs, transfer }: ExchangeEntry): UpstreamConnection | null {
    if (this.#settings.protocol === 'h3' && !transfer.isIdempotent)
      this.#closeIdleFor(IDLE_BEFORE_UNREPEATABLE_MS);
    const connections = [...this.#connections];
    const healthy = connections.filter(({ isHealthy }) => isHealthy);
    const first = healthy.find(({ canAccept, isAssigning }) => canAccept || isAssigning);
    if (first) return first.canAccept ? first : null;
    if (connections.length === 0) return this.#open();
    if (this.#settings.protocol === 'h1') return null;
    const isOpening = healthy.some(({ isEmpty, isActive }) => !isEmpty && !isActive);
    const isLate = performance.now() - sinceMs >= STREAM_WAIT_MS;
    if (isOpening || (healthy.length > 0 && !(isLate && healthy.length < MAX_HEALTHY_CONNECTIONS)))
      return null;
    if (connections.length < MAX_CONNECTIONS) return this.#open();
    const accepting = connections.filter(({ canAccept }) => canAccept);
    return accepting.sort((a, b) => a.held.bytes - b.held.bytes)[0] ?? null;
  }

  #dispatchLater({ sinceMs }: ExchangeEntry): void {
    const leftMs = sinceMs + STREAM_WAIT_MS - performance.now();
    if (leftMs > 0 && this.#settings.protocol !== 'h1')
      this.#dispatchTimer = setTimeout(() => this.dispatch(), leftMs);
  }

  #open(): UpstreamConnection {
    const {
      curl,
      protocol,
      streamLimit,
      onStreamLimit,
      onFault,
      onOpened,
      onActed,
      roundTrips,
      isOfNetwork,
    } = this.#settings;
    const connection: UpstreamConnection = new UpstreamConnection({
      curl,
      protocol,
      streamLimit: streamLimit(),
      onStreamLimit,
      onFault,
      onActed: () => {
        this.#requeue(connection.reclaimUnassigned());
        this.#requeue(connection.reclaimOrphans());
        this.dispatch();
        onActed(connection);
      },
      onEnd: (entry, code) => this.#onEnd(connection, entry, code),
      onCapacity: () => this.dispatch(),
      isOfNetwork,
      silenceLimitMs: () => roundTrips.silenceLimitMs,
      onFirstByte: (afterMs) => roundTrips.add(afterMs),
      onHeard: () => this.#noteSilence(false),
      onSilent: () => {
        this.#noteSilence(true);
        // libcurl goes on trying to open a connection.
        if (connection.isOpening) return;
        this.#requeue(connection.reclaimFromSilence());
        this.#closeWhenIdle(connection);
        this.dispatch();
      },
    });
    this.#connections.add(connection);
    onOpened(connection);
    return connection;
  }

  #noteSilence(isSilent: boolean): void {
    if (isSilent === this.#isSilent) return;
    this.#isSilent = isSilent;
    for (const { transfer } of this.#queue) transfer.reportSilence(isSilent);
    for (const { transfers } of this.#connections)
      for (const transfer of transfers) transfer.reportSilence(isSilent);
  }

  #requeue(entries: ExchangeEntry[]): void {
    for (const { transfer } of entries) this.#connectionOf.delete(transfer);
    this.#queue.unshift(...entries);
  }

  #onRemoved(connection: UpstreamConnection, transfer: ExchangeTransfer): void {
    this.#connectionOf.delete(transfer);
    this.#requeue(connection.reclaimOrphans());
    this.#closeWhenIdle(connection);
  }

  #closeWhenIdle(connection: UpstreamConnection): void {
    if (!connection.isEmpty) return;
    connection.runWhenIdle(this.#idleMsOf(connection), () => this.#close(connection));
  }

  #idleMsOf({ isBroken, hasUnsentReset }: UpstreamConnection): number {
    const { fresh, protocol } = this.#settings;
    if (fresh || isBroken || this.#isReleased) return 0;
    return hasUnsentReset ? IDLE_WITH_RESET_MS : IDLE_MS[protocol];
  }

  #closeIdleFor(idleMs: number): void {
    for (const connection of this.#connections) if (connection.idleMs > idleMs) this.#close(connection);
  }

  #onEnd(connection: UpstreamConnection, entry: ExchangeEntry, code: number): void {
    const { transfer } = entry;
    const noConnection = code !== CODE.OK && !transfer.connected;
    const message = code === CODE.OK ? '' : transfer.errorMessage;
    this.#onRemoved(connection, transfer);
    entry.done(code);
    // Where libcurl cannot go on reading, it does not end the connection's other exchanges itself.
    if (connection.isBroken && message !== '') {
      for (const other of connection.transfers) if (other.connected) connection.endExchange(other, code);
    }
    if (!noConnection || [...this.#connections].some(({ isActive }) => isActive)) return;
    // They were waiting for the connection that failed.
    for (const waiting of this.#queue.splice(0)) waiting.done(code, message);
  }

  #close(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    connection.close();
    this.#settings.onClosed(connection);
  }
}
