/** Clauses with the emulation's numbers on why one protocol is faster than another. */
import type { NetworkPath, Protocol, ServerProfile } from '@hopwise/contract';
import type { OriginCounters } from '../http/origin-client.ts';
import type { WorstHoldup } from '../trace/worst-holdup.ts';
import type { Sentences } from './sentences/english.ts';
import { withoutScheme } from './words.ts';

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

/** What round trips, lost packets and jitter may add to the arithmetic of a clause, as a share of it. */
const TOLERANCE = 0.25;

/** Whether times that a clause states account for what was saved: a reason explains no more than its arithmetic gives. */
export const accountsFor = (statedMs: number, savedMs: number): boolean =>
  savedMs <= (1 + TOLERANCE) * statedMs;

/**
 * Why the winner connects faster; null where its round trips are too few for what is saved.
 *
 * @param trips how many connections the loser's load waited for, one after the other
 */
export function connectClause(
  winner: Side,
  loser: Side,
  saved: { ms: number; trips: number },
  path: NetworkPath,
  causes: Causes,
): string | null {
  if (winner.protocol === 'h3' && accountsFor(saved.trips * path.rttMs, saved.ms)) {
    return causes.oneRoundTripClause(path.rttMs, loser.protocol);
  }
  const more = loser.counters.connections - winner.counters.connections;
  return more >= 1
    ? causes.handshakesClause(loser.counters.connections, loser.protocol, winner.counters.connections)
    : null;
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

/** A response of up to ten packets fits into the usual initial window (RFC 6928). */
const SMALL_BYTES = 14_600;

/** "14 small files from cdn.example wait behind one lost packet on HTTP/2, up to 180 ms." */
export function holdupSentence(
  { origin, held, longestMs }: WorstHoldup,
  protocol: Protocol,
  { causes }: Sentences,
): string {
  const isSmall = held.every(({ responseBytes }) => responseBytes <= SMALL_BYTES);
  return causes.holdup(held.length, isSmall, withoutScheme(origin), protocol, longestMs);
}
