import type { TcpInfo } from './tcp-info.ts';

/** Figures of one TCP connection. */
export interface ConnectionFigures extends Omit<TcpInfo, 'outOfOrder'> {
  /** `host:port` of its URLs. */
  host: string;
  /** How often a filled gap woke the receiver; losses within one flight count once. */
  lossEvents: number;
}

interface Connection {
  host: string;
  last: TcpInfo | null;
  lossEvents: number;
}

/**
 * Follows the TCP connections of one multi handle by socket number.
 *
 * A receiver sees a loss as a wake-up after which the count of out-of-order segments is higher: data behind
 * a gap do not wake the reader, so that filling the gap wakes it once.
 */
export class ConnectionWatch {
  readonly #read: (socket: number) => TcpInfo | null;
  readonly #live = new Map<number, Connection>();
  readonly #ended: Connection[] = [];

  constructor(read: (socket: number) => TcpInfo | null) {
    this.#read = read;
  }

  /** A socket was opened for `host`. The system reuses the numbers of closed sockets. */
  opened(socket: number, host: string): void {
    const former = this.#live.get(socket);
    if (former) this.#ended.push(former);
    this.#live.set(socket, { host, last: null, lossEvents: 0 });
  }

  /** To be called when the socket is readable, or about to be closed. */
  sample(socket: number): void {
    const connection = this.#live.get(socket);
    if (!connection) return;
    const info = this.#read(socket);
    if (!info) return;
    if (info.outOfOrder > (connection.last?.outOfOrder ?? 0)) connection.lossEvents += 1;
    connection.last = info;
  }

  /** Figures of the established connections, in the order of their start. */
  figures(): ConnectionFigures[] {
    return [...this.#ended, ...this.#live.values()].flatMap(({ host, last, lossEvents }) => {
      // An attempt that lost the race of Happy Eyeballs has no round trip.
      if (!last || last.minRttMs === null) return [];
      const { outOfOrder: _outOfOrder, ...info } = last;
      return [{ host, ...info, lossEvents }];
    });
  }
}
