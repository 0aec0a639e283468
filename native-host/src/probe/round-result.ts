import { median, type VerifiedProtocol } from '@hopwise/contract';
import type { ConnectionFigures } from '../curl/connection-watch.ts';
import type { RoundReport } from '../rounds/round.ts';

export type RoundResult = VerifiedProtocol['rounds'][number];

/** A round in the form of the contract. */
export function roundOf({ results, bytes, connections }: RoundReport): RoundResult {
  const transfers = [...results]
    .sort((a, b) => a.index - b.index)
    .map(({ code: _code, altSvc: _altSvc, remoteIp: _remoteIp, error, ...result }) => ({
      ...result,
      error: error.slice(0, 512),
    }));
  const total = (of: (one: ConnectionFigures) => number): number | null =>
    connections.length === 0 ? null : connections.reduce((sum, one) => sum + of(one), 0);
  const roundTrips = connections.flatMap(({ minRttMs }) => minRttMs ?? []);
  return {
    ...timesOf(transfers),
    bytes,
    minRttMs: roundTrips.length > 0 ? Math.min(...roundTrips) : null,
    lossEvents: total(({ lossEvents }) => lossEvents),
    segmentsIn: total(({ dataSegmentsIn }) => dataSegmentsIn),
    retransmitted: total(({ retransmitted }) => retransmitted),
    transfers,
  };
}

/** The round without these transfers; their bytes still count as received. */
export function without(round: RoundResult, leftOut: ReadonlySet<number>): RoundResult {
  const transfers = round.transfers.filter(({ index }) => !leftOut.has(index));
  const bytes = transfers.reduce((sum, transfer) => sum + transfer.bytes, 0);
  return { ...round, ...timesOf(transfers), bytes, transfers };
}

function timesOf(transfers: RoundResult['transfers']): Pick<RoundResult, 'totalMs' | 'failed'> {
  return {
    totalMs: Math.max(0, ...transfers.map(({ endMs }) => endMs)),
    failed: transfers.filter(({ error }) => error !== '').length,
  };
}

/** Whether a round transferred the page's document whole: what was cut short soon ended sooner. */
const hasDocument = ({ transfers: [first] }: RoundResult): boolean =>
  first?.index === 0 && first.protocol !== null && first.error === '';

/**
 * The results of one kind of round.
 *
 * @param unavailable why there are none, '' when there are
 * @param isAsIntended whether a transfer used the protocol that was intended for it
 */
export function summary(
  rounds: RoundResult[],
  unavailable: string,
  isAsIntended: (transfer: RoundResult['transfers'][number]) => boolean,
): VerifiedProtocol {
  const answered = rounds.flatMap(({ transfers }) => transfers.filter((one) => one.protocol !== null));
  const totals = rounds.filter(hasDocument).map(({ totalMs }) => totalMs);
  return {
    unavailable: unavailable.slice(0, 512),
    rounds,
    ...(totals.length > 0
      ? { medianMs: median(totals), lowMs: Math.min(...totals), highMs: Math.max(...totals) }
      : { medianMs: null, lowMs: null, highMs: null }),
    provedRequests: answered.filter(isAsIntended).length,
    answeredRequests: answered.length,
  };
}
