/** Clauses with the emulation's numbers on why one protocol is faster than another. */
import { type NetworkPath, PROTOCOL_NAME, type Protocol, type ServerProfile } from '@hopwise/contract';
import type { OriginCounters } from '../http/origin-client.ts';
import { count, ms, round } from './words.ts';

/** A protocol with what requests went through under it. */
export interface Side {
  protocol: Protocol;
  counters: OriginCounters;
}

/** "This network holds UDP to a fraction of its rate: it dropped 120 packets of HTTP/3." */
export const policedSentence = ({ policed }: OriginCounters): string =>
  `This network holds UDP to a fraction of its rate: it dropped ${count(policed, 'packet')} of HTTP/3.`;

/** "12 requests on HTTP/1.1 waited for one of six connections to be free, 80 ms each." */
export const sixConnectionsClause = ({ waitedForConnection, connectionWaitMs }: OriginCounters): string =>
  `${count(waitedForConnection, 'request')} on HTTP/1.1 waited for one of six connections to be free, ${ms(connectionWaitMs / waitedForConnection)} each.`;

/** Why the winner connects faster. */
export function connectClause(winner: Side, loser: Side, path: NetworkPath): string {
  const loserName = PROTOCOL_NAME[loser.protocol];
  return winner.protocol === 'h3'
    ? `a connection is ready after 1 round trip of ${ms(path.rttMs)} instead of 2 on ${loserName}.`
    : `${count(loser.counters.connections, 'connection')} on ${loserName} instead of ${round(winner.counters.connections)} take more handshakes.`;
}

/** Why a timer had to find losses more often for the loser. */
export const timeoutsClause = (winner: Side, loser: Side): string =>
  `${count(loser.counters.timeouts, 'time')} on ${PROTOCOL_NAME[loser.protocol]} a lost packet was noticed only by a timer (${round(winner.counters.timeouts)} on ${PROTOCOL_NAME[winner.protocol]}).`;

/** Why HTTP/1.1's several connections lose less to one lost packet. */
export const oneOfManyClause = (winner: Side, loser: Side): string =>
  `a lost packet slows one of ${count(winner.counters.connections, 'connection')} instead of the only one: ${count(lostPackets(loser), 'packet')} lost on ${PROTOCOL_NAME[loser.protocol]}.`;

/** Why the winner transfers faster. */
export function transferClause(winner: Side, loser: Side, servers: readonly ServerProfile[]): string {
  const lost = lostPackets(loser);
  const loserName = PROTOCOL_NAME[loser.protocol];
  if (loser.counters.timeouts >= winner.counters.timeouts + 1) return timeoutsClause(winner, loser);
  if (winner.protocol === 'h1' && lost >= 1) return oneOfManyClause(winner, loser);
  if (winner.protocol === 'h1') {
    return `${count(winner.counters.connections, 'connection')} start with that many windows, ${count(loser.counters.connections, 'connection')} of ${loserName} with fewer.`;
  }
  if (winner.protocol === 'h3') {
    const [server] = servers;
    const tcp = server?.tcp.initialWindow ?? 10;
    const quic = server?.quic.initialWindow ?? 10;
    if (quic > tcp) return `its server begins with ${quic} packets in flight, over TCP with ${tcp}.`;
  }
  const winnerLost = lostPackets(winner);
  return lost - winner.counters.lost - winner.counters.queueDrops >= 1
    ? `${count(lost, 'packet')} lost on ${loserName}, ${round(winnerLost)} on ${PROTOCOL_NAME[winner.protocol]}.`
    : `what the page waits for is not held up by other responses on the link.`;
}

/** Packets lost at random or dropped at the full queue. */
export const lostPackets = ({ counters }: Side): number => counters.lost + counters.queueDrops;
