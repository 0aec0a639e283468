/** Clauses with the emulation's numbers on why one protocol is faster than another. */
import type { NetworkPath, Protocol, ServerProfile } from '@hopwise/contract';
import type { OriginCounters } from '../http/origin-client.ts';
import type { Sentences } from './sentences/english.ts';

type Causes = Sentences['causes'];

/** A protocol with what requests went through under it. */
export interface Side {
  protocol: Protocol;
  counters: OriginCounters;
}

/** Why requests wait for connections under HTTP/1.1. */
export const sixConnectionsClause = (
  { waitedForConnection, connectionWaitMs }: OriginCounters,
  causes: Causes,
): string => causes.sixConnectionsClause(waitedForConnection, connectionWaitMs / waitedForConnection);

/** Why the winner connects faster. */
export function connectClause(winner: Side, loser: Side, path: NetworkPath, causes: Causes): string {
  return winner.protocol === 'h3'
    ? causes.oneRoundTripClause(path.rttMs, loser.protocol)
    : causes.handshakesClause(loser.counters.connections, loser.protocol, winner.counters.connections);
}

/** Why a timer had to find losses more often for the loser. */
export const timersClause = (winner: Side, loser: Side, causes: Causes): string =>
  causes.timersClause(loser.counters.timeouts, loser.protocol, winner.counters.timeouts, winner.protocol);

/** Why HTTP/1.1's several connections lose less to one lost packet. */
export const oneOfManyClause = (winner: Side, loser: Side, causes: Causes): string =>
  causes.oneOfManyClause(winner.counters.connections, lostPackets(loser), loser.protocol);

/** Why the winner transfers faster. */
export function transferClause(
  winner: Side,
  loser: Side,
  servers: readonly ServerProfile[],
  causes: Causes,
): string {
  const lost = lostPackets(loser);
  if (loser.counters.timeouts >= winner.counters.timeouts + 1) return timersClause(winner, loser, causes);
  if (winner.protocol === 'h1' && lost >= 1) return oneOfManyClause(winner, loser, causes);
  if (winner.protocol === 'h1') {
    return causes.moreWindowsClause(winner.counters.connections, loser.counters.connections, loser.protocol);
  }
  if (winner.protocol === 'h3') {
    const [server] = servers;
    const tcp = server?.tcp.initialWindow ?? 10;
    const quic = server?.quic.initialWindow ?? 10;
    if (quic > tcp) return causes.largerWindowClause(quic, tcp);
  }
  const winnerLost = lostPackets(winner);
  return lost - winnerLost >= 1
    ? causes.lostClause(lost, loser.protocol, winnerLost, winner.protocol)
    : causes.notHeldUpClause();
}

/** Packets lost at random or dropped at the full queue. */
export const lostPackets = ({ counters }: Side): number => counters.lost + counters.queueDrops;
