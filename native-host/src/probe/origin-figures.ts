/** Figures of the connections to each origin, over all rounds. */
import { median, type Verification, type VerifiedOrigin } from '@hopwise/contract';
import type { ConnectionFigures } from '../curl/connection-watch.ts';
import type { RoundReport, RoundRequest } from '../rounds/round.ts';
import { randomLosses } from './random-losses.ts';

type TcpFigures = NonNullable<VerifiedOrigin['tcp']>;
type QuicFigures = NonNullable<VerifiedOrigin['quic']>;

/** Collects figures round by round, by `host:port`. */
export class OriginFigures {
  readonly #tcp = new Map<string, ConnectionFigures[]>();
  readonly #handshakesMs = new Map<string, number[]>();

  add({ transfers }: Pick<RoundRequest, 'transfers'>, { connections, results }: RoundReport): void {
    for (const connection of connections) append(this.#tcp, connection.host, connection);
    for (const { index, protocol, newConnection, dnsMs, handshakeMs } of results) {
      if (protocol !== 'h3' || !newConnection || dnsMs === null || handshakeMs === null) continue;
      append(this.#handshakesMs, transfers[index]!.host, handshakeMs - dnsMs);
    }
  }

  tcp(host: string): TcpFigures | null {
    const all = this.#tcp.get(host);
    if (!all) return null;
    const total = (of: (one: ConnectionFigures) => number) => all.reduce((sum, one) => sum + of(one), 0);
    const known = (of: (one: ConnectionFigures) => number | null) => all.flatMap((one) => of(one) ?? []);
    const rttMs = known((one) => one.rttMs);
    const sending = known(({ sendingBps }) => sendingBps);
    return {
      connections: all.length,
      minRttMs: Math.min(...known(({ minRttMs }) => minRttMs)),
      rttMs: rttMs.length > 0 ? median(rttMs) : null,
      segmentsIn: total(({ dataSegmentsIn }) => dataSegmentsIn),
      segmentsOut: total(({ dataSegmentsOut }) => dataSegmentsOut),
      lossEvents: total(({ lossEvents }) => lossEvents),
      retransmitted: total(({ retransmitted }) => retransmitted),
      sendingBps: sending.length > 0 ? Math.max(...sending) : null,
    };
  }

  /** Over all connections, as they share the path. */
  randomLoss(): Verification['randomLoss'] {
    const atDelay = [...this.#tcp.values()].flatMap((connections) => {
      // A connection that begins while the queue is full does not see its host's minimum.
      const minRttMs = Math.min(...connections.flatMap((one) => one.minRttMs ?? []));
      return connections.flatMap(({ lossesAtRtt }) =>
        lossesAtRtt.map(({ rttMs, ...losses }) => ({ ...losses, queueMs: Math.max(0, rttMs - minRttMs) })),
      );
    });
    return randomLosses(atDelay);
  }

  quic(host: string): QuicFigures | null {
    const handshakesMs = this.#handshakesMs.get(host);
    if (!handshakesMs) return null;
    return { connections: handshakesMs.length, rttAtMostMs: Math.max(0, Math.min(...handshakesMs)) };
  }
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
