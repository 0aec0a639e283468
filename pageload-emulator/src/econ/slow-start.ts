import type { Round } from './climb.ts';
import { type Epoch, epochAfterLoss, epochAfterSlowStart } from './epoch.ts';
import { firstLost } from './first-lost.ts';
import { type FlowConditions, roundMs } from './flow-conditions.ts';
import { expectedDuration, expectedRounds } from './rounds-to-loss.ts';

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
export interface SlowStartRounds {
  rounds: Round[];
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
  const rounds: Round[] = [];
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
export interface SlowStartLoss {
  /** Segments that the round with the loss and the one after it deliver. */
  delivered: number;
  /** Of them, those that the round after it delivers. */
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

/** Means over slow start. */
export interface SlowStart {
  /** Rounds without the one in which a loss is detected. */
  rounds: number;
  segments: number;
  durationMs: number;
  segmentsPerMs: number;
  /** Probability that a loss ends it. */
  lossProbability: number;
  /** Window when it ends, before any cut. */
  windowAtExit: number;
}

/**
 * ECON's equation 4, throughput of slow start: its segments over (E[X] + 1)·RTT, the + 1 being the round in which
 * the sender detects the loss. The paper has it for every slow start; one that ssthresh ends has no such
 * round, so that it counts on the branch with the loss alone.
 *
 * @throws RangeError when neither loss nor ssthresh ends it
 */
export function slowStart(conditions: FlowConditions, from: SlowStartFrom): SlowStart {
  const { rounds, survived, next } = slowStartRounds(conditions, from);
  if (next === null && survived > NEGLIGIBLE) throw new RangeError('expected a loss or a threshold');
  let passed = 0;
  let segments = 0;
  let windowAtExit = next === null ? 0 : survived * next.start;
  for (const { reached, firstLost, window } of rounds) {
    const { probability } = firstLost;
    if (probability > 0) {
      // What a loss at the mean place leaves: all of it grows evenly with the place.
      const place = (firstLost.expected - (1 - probability) * window) / probability;
      const loss = lossInSlowStart(conditions, window, place);
      segments += reached * probability * (passed + loss.delivered);
      windowAtExit += reached * probability * (window + place - 1);
    }
    passed += window;
  }
  segments += survived * passed;
  const durationMs = expectedDuration(rounds);
  return {
    rounds: expectedRounds(rounds),
    segments,
    durationMs,
    segmentsPerMs: durationMs > 0 ? segments / durationMs : 0,
    lossProbability: 1 - survived,
    windowAtExit,
  };
}
