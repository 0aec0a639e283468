import type { TcpInfo } from './tcp-info.ts';

/** What one TCP connection went through. */
export interface ConnectionFigures extends Omit<TcpInfo, 'outOfOrder'> {
  /** `host:port` of the URLs that it carries. */
  host: string;
  /** Times that the receiver was woken by a hole that was filled: losses in one flight are one. */
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
 * A loss shows at the receiver as a wake-up after which more segments had come out of order than
 * before: data behind a hole wake nobody, so a hole that is filled wakes the reader once.
 */
export class ConnectionWatch {
  readonly #read: (socket: number) => TcpInfo | null;
  readonly #live = new Map<number, Connection>();
  readonly #ended: Connection[] = [];

  constructor(read: (socket: number) => TcpInfo | null) {
    this.#read = read;
  }

  /** A socket was made for `host`; the system hands out the numbers of closed ones again. */
  opened(socket: number, host: string): void {
    const former = this.#live.get(socket);
    if (former) this.#ended.push(former);
    this.#live.set(socket, { host, last: null, lossEvents: 0 });
  }

  /** The socket is readable, or is about to leave the watch. */
  sample(socket: number): void {
    const connection = this.#live.get(socket);
    if (!connection) return;
    const info = this.#read(socket);
    if (!info) return;
    if (info.outOfOrder > (connection.last?.outOfOrder ?? 0)) connection.lossEvents += 1;
    connection.last = info;
  }

  /** Of the connections that came about, in the order in which they began. */
  figures(): ConnectionFigures[] {
    return [...this.#ended, ...this.#live.values()].flatMap(({ host, last, lossEvents }) => {
      // An attempt at an address that another one outran has no round trip.
      if (!last || last.minRttMs === null) return [];
      const { outOfOrder: _outOfOrder, ...info } = last;
      return [{ host, ...info, lossEvents }];
    });
  }
}
