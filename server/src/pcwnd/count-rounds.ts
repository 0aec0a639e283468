import type { WindowCount } from '@hopwise/pageload-emulator/econ';
import type { SocketInfo } from '../sockets/socket-info.ts';

/** What was counted of a connection before. */
export type CountedBefore = Pick<SocketInfo, 'segments' | 'retransmitted'>;

/** Part of its window that a loss leaves to Cubic, which Linux uses unless told otherwise (RFC 9438). */
const LEFT_BY_LOSS = 0.7;

/**
 * The rounds that a connection has sent since it was last seen, by their window, as ECON's two maps (Cao et al., IMC 2019, section 3.2)
 * have packets and losses. Of a new connection they are those of a slow start from its initial window to the window at which it lost,
 * and then, as of a connection that was seen before, those of its window at present. One loss counts, however many segments it took.
 */
export function countRounds(
  socket: SocketInfo,
  before: CountedBefore | null,
  initialWindow: number,
): WindowCount[] {
  let left = socket.segments - (before?.segments ?? 0);
  const lossWindow = Math.max(
    1,
    socket.ssthresh === null ? socket.cwnd : Math.round(socket.ssthresh / LEFT_BY_LOSS),
  );
  const counts: WindowCount[] = [];
  const addRounds = (cwnd: number, packets: number, lossEvents = 0): void => {
    if (packets <= 0) return;
    counts.push({ cwnd, rounds: Math.ceil(packets / cwnd), packets, lossEvents });
    left -= packets;
  };
  if (before === null) {
    for (let window = initialWindow; left > 0 && window < lossWindow; window *= 2)
      addRounds(window, Math.min(window, left));
  }
  if (socket.retransmitted > (before?.retransmitted ?? 0))
    addRounds(lossWindow, Math.max(1, Math.min(lossWindow, left)), 1);
  addRounds(Math.max(1, socket.cwnd), left);
  return counts;
}
