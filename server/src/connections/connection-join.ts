import type { AccessLogEntry } from '../log/access-log.ts';
import type { SocketInfo } from '../sockets/socket-info.ts';
import { RecentMap } from '../util/recent-map.ts';

/** A connection, from its first byte to its end or its first pause. */
export interface ServedConnection {
  socket: SocketInfo;
  /** Unix milliseconds. */
  connectedMs: number;
}

/** Connections of which only one side is known are kept for the last so many, and at most twice as many. */
const MAX_PENDING = 10_000;
/** No port has two connections within this time. */
const SAME_MS = 100;

/**
 * Joins what nginx's log says of a connection (when it began) with what the kernel counted. The log's addresses
 * alone move nothing: a connection needs a socket of the kernel.
 */
export class ConnectionJoin {
  readonly #logged = new RecentMap<number>(MAX_PENDING);
  readonly #ended = new RecentMap<SocketInfo>(MAX_PENDING);
  /** Connections that were handed over at a pause. */
  readonly #done = new RecentMap<number>(MAX_PENDING);
  readonly #onConnection: (connection: ServedConnection) => void;

  constructor(onConnection: (connection: ServedConnection) => void) {
    this.#onConnection = onConnection;
  }

  noteRequest({ address, port, connectedMs }: AccessLogEntry): void {
    const key = keyOf(address, port);
    this.#logged.set(key, connectedMs);
    const socket = this.#ended.get(key);
    if (socket !== undefined) this.#handOver(key, socket);
  }

  noteEnd(socket: SocketInfo): void {
    const key = keyOf(socket.address, socket.port);
    if (this.#done.delete(key)) {
      this.#logged.delete(key);
      return;
    }
    this.#ended.set(key, socket);
    if (this.#logged.has(key)) this.#handOver(key, socket);
  }

  /** Takes open connections: those that pause count as what they have transferred so far. */
  noteOpen(sockets: readonly SocketInfo[]): void {
    for (const socket of sockets) {
      const key = keyOf(socket.address, socket.port);
      const connectedMs = this.#logged.get(key);
      if (!socket.isIdle || connectedMs === undefined || this.#isDone(key, connectedMs)) continue;
      this.#done.set(key, connectedMs);
      this.#onConnection({ socket, connectedMs });
    }
  }

  #handOver(key: string, socket: SocketInfo): void {
    const connectedMs = this.#logged.get(key)!;
    this.#logged.delete(key);
    this.#ended.delete(key);
    this.#onConnection({ socket, connectedMs });
  }

  /** The log has milliseconds: its times of one connection differ a little. */
  #isDone(key: string, connectedMs: number): boolean {
    return Math.abs((this.#done.get(key) ?? 0) - connectedMs) < SAME_MS;
  }
}

const keyOf = (address: string, port: number): string => `${address} ${port}`;
