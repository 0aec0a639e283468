import { LossCounter, type LossesAtRtt } from './loss-counter.ts';
import type { TcpInfo } from './tcp-info.ts';

/** Figures of one TCP connection. */
export interface ConnectionFigures extends Omit<TcpInfo, 'outOfOrder' | 'maxSegmentBytes' | 'receiverRttMs'> {
  /** `host:port` of its URLs. */
  host: string;
  /** Runs of lost packets, and the packets lost in them (`LossCounter`). */
  lossEvents: number;
  lost: number;
  /** Losses by round trip, ascending. */
  lossesAtRtt: LossesAtRtt[];
}

interface Connection {
  host: string;
  last: TcpInfo | null;
  losses: LossCounter;
}

/** Follows the TCP connections of one multi handle by socket number. */
export class ConnectionWatch {
  readonly #read: (socket: number) => TcpInfo | null;
  readonly #live = new Map<number, Connection>();
  readonly #ended: Connection[] = [];

  constructor(read: (socket: number) => TcpInfo | null) {
    this.#read = read;
  }

  /** A socket was opened for `host`. The system reuses the numbers of closed sockets. */
  noteOpened(socket: number, host: string): void {
    const former = this.#live.get(socket);
    if (former) this.#ended.push(former);
    this.#live.set(socket, { host, last: null, losses: new LossCounter() });
  }

  /** To be called when the socket is readable, or about to be closed. */
  sample(socket: number): void {
    const connection = this.#live.get(socket);
    if (!connection) return;
    const info = this.#read(socket);
    if (!info) return;
    connection.losses.observe(info);
    connection.last = info;
  }

  /** Figures of the established connections, in the order of their start. */
  figures(): ConnectionFigures[] {
    return [...this.#ended, ...this.#live.values()].flatMap(({ host, last, losses }) => {
      // An attempt that lost the race of Happy Eyeballs has no round trip.
      if (!last || last.minRttMs === null) return [];
      const { outOfOrder: _o, maxSegmentBytes: _m, receiverRttMs: _r, ...info } = last;
      const { events, lost, atRtt } = losses;
      return [{ host, ...info, lossEvents: events, lost, lossesAtRtt: atRtt }];
    });
  }
}
