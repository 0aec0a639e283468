import { LRUCache } from 'lru-cache';
import type { AccessLogEntry } from '../log/access-log.ts';
import type { SocketInfo } from '../sockets/socket-info.ts';

/** A connection, from its first byte to its end or its first pause. */
export interface ServedConnection {
  socket: SocketInfo;
  /** Unix milliseconds. */
  connectedMs: number;
}

/** How many connections of which only one side is known are kept: the last ones. */
const MAX_PENDING = 10_000;
/** No port has two connections within this time; the log has milliseconds, so that its times of one connection differ a little. */
const SAME_MS = 100;

/**
 * Joins what nginx's log says of a connection (when it began) with what the kernel counted. The log's addresses
 * alone move nothing: a connection needs a socket of the kernel.
 */
export class ConnectionJoin {
  readonly #logged = new LRUCache<string, number>({ max: MAX_PENDING });
  readonly #ended = new LRUCache<string, SocketInfo>({ max: MAX_PENDING });
  /** Connections that were handed over at a pause. */
  readonly #done = new LRUCache<string, number>({ max: MAX_PENDING });
  readonly #onConnection: (connection: ServedConnection) => void;

  constructor(onConnection: (connection: ServedConnection) => void) {
    this.#onConnection = onConnection;
  }

  noteRequest({ address, port, connectedMs }: AccessLogEntry): void {
    const key = `${address} ${port}`;
    this.#logged.set(key, connectedMs);
    this.#handOver(key);
  }

  noteEnd(socket: SocketInfo): void {
    const key = `${socket.address} ${socket.port}`;
    if (this.#done.delete(key)) {
      this.#logged.delete(key);
      return;
    }
    this.#ended.set(key, socket);
    this.#handOver(key);
  }

  /** Takes open connections: those that pause count as what they have transferred so far. */
  noteOpen(sockets: readonly SocketInfo[]): void {
    for (const socket of sockets) {
      const key = `${socket.address} ${socket.port}`;
      const connectedMs = this.#logged.get(key);
      if (!socket.isIdle || connectedMs === undefined) continue;
      if (Math.abs((this.#done.get(key) ?? 0) - connectedMs) < SAME_MS) continue;
      this.#done.set(key, connectedMs);
      this.#onConnection({ socket, connectedMs });
    }
  }

  /** Hands over a connection that has ended once both sides are known. */
  #handOver(key: string): void {
    const [connectedMs, socket] = [this.#logged.get(key), this.#ended.get(key)];
    if (connectedMs === undefined || socket === undefined) return;
    this.#logged.delete(key);
    this.#ended.delete(key);
    this.#onConnection({ socket, connectedMs });
  }
}
