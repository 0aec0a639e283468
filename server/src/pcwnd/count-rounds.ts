import type { WindowCount } from '@hopwise/pageload-emulator/econ';
import type { SocketInfo } from '../sockets/socket-info.ts';

/** What was counted of a connection before. */
export interface CountedBefore {
  segments: number;
  retransmitted: number;
}

/** Part of its window that a loss leaves (RFC 9438, RFC 5681). */
const LEFT_BY_LOSS = { cubic: 0.7, reno: 0.5 } as const;
export type LossResponse = keyof typeof LEFT_BY_LOSS;

/**
 * The rounds that a connection has sent since it was last seen, by their window, as ECON's two maps (Cao et al., IMC 2019, section 3.2)
 * have packets and losses. Of a new connection they are those of a slow start from its initial window to the window at which it lost,
 * and then, as of a connection that was seen before, those of its window at present. One loss counts, however many segments it took.
 */
export function countRounds(
  socket: SocketInfo,
  before: CountedBefore | null,
  initialWindow: number,
  response: LossResponse,
): WindowCount[] {
  let left = socket.segments - (before?.segments ?? 0);
  const hasLost = socket.retransmitted > (before?.retransmitted ?? 0);
  const lossWindow = Math.max(
    1,
    socket.ssthresh === null ? socket.cwnd : Math.round(socket.ssthresh / LEFT_BY_LOSS[response]),
  );
  const counts: WindowCount[] = [];
  const addRounds = (cwnd: number, packets: number): void => {
    if (packets <= 0) return;
    const rounds = Math.ceil(packets / cwnd);
    counts.push({ cwnd, rounds, packets, lossEvents: 0 });
    left -= packets;
  };
  if (before === null) {
    for (let window = initialWindow; left > 0 && window < lossWindow; window *= 2)
      addRounds(window, Math.min(window, left));
  }
  if (hasLost) {
    const packets = Math.max(1, Math.min(lossWindow, left));
    counts.push({ cwnd: lossWindow, rounds: 1, packets, lossEvents: 1 });
    left -= packets;
  }
  addRounds(Math.max(1, socket.cwnd), left);
  return counts;
}
