/** How much libcurl may buffer of responses whose readers are slow: connections that hold too much are no longer read. */
import { CODE } from '../curl/curl-constants.ts';
import { MAX_HELD_OF_HEALTHY_BYTES, type UpstreamConnection } from './upstream-connection.ts';

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
 * How often such a connection is read once nevertheless, while others wait: they get what has already arrived, and libcurl
 * buffers some 100 kB more.
 */
const TRICKLE_INTERVAL_MS = 20;

/** Time between two measurements of what is held: 1.25 MB at 1 Gbit/s. */
const MEASURE_INTERVAL_MS = 10;

interface Watched {
  onHealthy: () => void;
  measuredMs: number;
  /** Both run while the connection is not read. */
  stallTimer: NodeJS.Timeout | null;
  trickle: NodeJS.Timeout | null;
}

export class BufferLimits {
  readonly #watched = new Map<UpstreamConnection, Watched>();

  get connections(): UpstreamConnection[] {
    return [...this.#watched.keys()];
  }

  /** @param onHealthy called when no slow reader blocks the connection's other exchanges. */
  watch(connection: UpstreamConnection, onHealthy: () => void): void {
    this.#watched.set(connection, { onHealthy, measuredMs: 0, stallTimer: null, trickle: null });
  }

  unwatch(connection: UpstreamConnection): void {
    this.#stopTimers(connection);
    this.#watched.delete(connection);
  }

  /** To be called when libcurl has processed the events of a connection. */
  onActed(connection: UpstreamConnection): void {
    const measuredMs = this.#watched.get(connection)?.measuredMs;
    if (measuredMs !== undefined && performance.now() - measuredMs >= MEASURE_INTERVAL_MS)
      this.#measure(connection);
  }

  /** To be called when a reader of the connection has consumed bytes or is gone. */
  onReaderProgress(connection: UpstreamConnection): void {
    if (connection.held.bytes > 0) this.#measure(connection);
  }

  #measure(connection: UpstreamConnection): void {
    const watched = this.#watched.get(connection);
    if (!watched) return;
    watched.measuredMs = performance.now();
    const held = connection.transfers.map((transfer) => transfer.heldBytes());
    connection.held = { maxBytes: Math.max(0, ...held), bytes: held.reduce((sum, bytes) => sum + bytes, 0) };
    const all = this.connections;
    const inAll = all.reduce((sum, { held: { bytes } }) => sum + bytes, 0);
    const limit = inAll > MAX_HELD_IN_ALL_BYTES ? MAX_HELD_OF_HEALTHY_BYTES : MAX_HELD_BYTES;
    for (const other of all) this.#setReading(other, other.held.maxBytes <= limit);
    if (connection.isHealthy) watched.onHealthy();
  }

  #setReading(connection: UpstreamConnection, reading: boolean): void {
    connection.setReading(reading);
    const watched = this.#watched.get(connection)!;
    if (reading) this.#stopTimers(connection);
    else {
      watched.stallTimer ??= setTimeout(() => this.#onStall(connection), MAX_STALL_MS);
      watched.trickle ??= setInterval(() => {
        if (!allAreHeld(connection)) connection.multi.readOnce();
      }, TRICKLE_INTERVAL_MS);
    }
  }

  #stopTimers(connection: UpstreamConnection): void {
    const watched = this.#watched.get(connection);
    if (!watched) return;
    if (watched.stallTimer) clearTimeout(watched.stallTimer);
    if (watched.trickle) clearInterval(watched.trickle);
    watched.stallTimer = null;
    watched.trickle = null;
  }

  #onStall(connection: UpstreamConnection): void {
    this.#stopTimers(connection);
    if (!allAreHeld(connection)) {
      const slowest = connection.transfers.reduce((slow, transfer) =>
        transfer.heldBytes() > slow.heldBytes() ? transfer : slow,
      );
      connection.endExchange(slowest, CODE.ABORTED_BY_CALLBACK);
    }
    this.#measure(connection);
  }
}

function allAreHeld({ transfers }: UpstreamConnection): boolean {
  return transfers.every((transfer) => transfer.heldBytes() > 0);
}
