import type { TcpInfo } from './tcp-info.ts';

/** What a round's TCP connections went through together; null where nothing can be known. */
export interface PathFigures {
  minRttMs: number | null;
  lossEvents: number | null;
  segmentsIn: number | null;
}

interface Connection {
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

  /** A socket was made; the system hands out the numbers of closed ones again. */
  opened(socket: number): void {
    const former = this.#live.get(socket);
    if (former) this.#ended.push(former);
    this.#live.set(socket, { last: null, lossEvents: 0 });
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

  figures(): PathFigures {
    const all = [...this.#ended, ...this.#live.values()];
    const known = all.filter((connection) => connection.last);
    const rtts = known.flatMap(({ last }) => (last?.minRttMs == null ? [] : [last.minRttMs]));
    return {
      minRttMs: rtts.length > 0 ? Math.min(...rtts) : null,
      lossEvents: known.length > 0 ? known.reduce((sum, { lossEvents }) => sum + lossEvents, 0) : null,
      segmentsIn: known.length > 0 ? known.reduce((sum, { last }) => sum + last!.dataSegmentsIn, 0) : null,
    };
  }
}
