import type { ClimbRound } from './climb.ts';
import { type Epoch, epochAfterLoss, epochAfterSlowStart } from './epoch.ts';
import { firstLost } from './first-lost.ts';
import { type FlowConditions, roundMs } from './flow-conditions.ts';

/** Survival below which the rounds that follow no longer count. */
const NEGLIGIBLE = 1e-12;
/** Above any window that a 32-bit sequence space allows. */
const MAX_WINDOW = 2 ** 31;

/** Where slow start begins and what may end it. Windows are whole segments. */
export interface SlowStartFrom {
  window: number;
  /** No threshold when absent, as for a new connection. */
  ssthresh?: number;
}

/** The rounds of slow start that may be lost in, each twice the one before. */
interface SlowStartRounds {
  rounds: ClimbRound[];
  /** Probability that all of them pass without a loss, and the epoch that ssthresh then begins; null when it never ends so. */
  survived: number;
  next: Epoch | null;
}

/**
 * @param segments stop once so many have been sent in rounds without a loss
 */
export function slowStartRounds(
  conditions: FlowConditions,
  { window, ssthresh = Number.POSITIVE_INFINITY }: SlowStartFrom,
  segments = Number.POSITIVE_INFINITY,
): SlowStartRounds {
  const rounds: ClimbRound[] = [];
  const room = conditions.roomSegments ?? Number.POSITIVE_INFINITY;
  let reached = 1;
  let sent = 0;
  let cwnd = window;
  let before: number | undefined;
  while (cwnd < ssthresh && reached > NEGLIGIBLE && sent < segments && cwnd < MAX_WINDOW) {
    // Two segments leave for each acknowledged: what is in flight grows by half of what is sent.
    const held = before === undefined ? room : Math.max(0, 2 * (room - before));
    const round = {
      window: cwnd,
      durationMs: roundMs(conditions, cwnd),
      firstLost: firstLost(conditions, cwnd, before, held),
      reached,
    };
    rounds.push(round);
    reached *= 1 - round.firstLost.probability;
    sent += cwnd;
    before = cwnd;
    cwnd = Math.min(2 * cwnd, ssthresh);
  }
  return { rounds, survived: reached, next: cwnd >= ssthresh ? epochAfterSlowStart(cwnd) : null };
}

/** What a loss in slow start leaves. */
interface SlowStartLoss {
  /** Segments that the round with the loss and the one after it deliver. */
  delivered: number;
  /** How many of them the round after it delivers. */
  recovered: number;
  epoch: Epoch;
}

/**
 * A loss in slow start is seen one round trip later: each segment acknowledged before it has released two
 * more and grown the window by one, which is then cut.
 *
 * @param window of the round
 * @param place number of the first lost segment in it
 */
export function lossInSlowStart(
  conditions: Pick<FlowConditions, 'congestionControl' | 'roomSegments'>,
  window: number,
  place: number,
): SlowStartLoss {
  const grown = window + place - 1;
  const room = conditions.roomSegments ?? Number.POSITIVE_INFINITY;
  const lost = window > room ? Math.max(1, grown - room) : 1;
  const released = 2 * (place - 1) + 1;
  const recovered = Math.max(1, released - (lost - 1));
  return {
    delivered: window - 1 + recovered,
    recovered,
    epoch: epochAfterLoss(conditions.congestionControl, grown, 0),
  };
}
