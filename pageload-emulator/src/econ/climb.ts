import { cubicClimb } from './cubic-window.ts';
import type { Epoch } from './epoch.ts';
import { type FirstLost, firstLost } from './first-lost.ts';
import { type FlowConditions, roundMs } from './flow-conditions.ts';

/** Survival below which the rounds that follow no longer count. */
const NEGLIGIBLE = 1e-12;
const MAX_ROUNDS = 200_000;

/** One round of a climb. */
export interface ClimbRound {
  /** ECON's cwnd_j, in whole segments: a sender sends no part of one. */
  window: number;
  durationMs: number;
  /** Where the round loses, given that none before it did. */
  firstLost: FirstLost;
  /** Probability that no round before this one lost. */
  reached: number;
}

/**
 * The rounds of congestion avoidance from an epoch's start up to its loss, with the survival product
 * Π(1 − P(loss in round j)) that ECON's sums run over.
 *
 * @param segments stop once so many have been sent in rounds without a loss; Infinity for the whole climb
 * @param part begins where the window has grown to `from`, and has at most so many rounds
 * @throws RangeError when the loss is too rare for a climb ever to end
 */
export function climb(
  conditions: FlowConditions,
  epoch: Epoch,
  segments = Number.POSITIVE_INFINITY,
  part: { from: number; rounds: number } = { from: 0, rounds: Number.POSITIVE_INFINITY },
): ClimbRound[] {
  const rounds: ClimbRound[] = [];
  let passed = 0;
  let window = epoch.start;
  let whole: number | undefined;
  let sinceMs = 0;
  let sent = 0;
  let reached = 1;
  while (reached > NEGLIGIBLE && sent < segments && rounds.length < part.rounds) {
    if (passed > 0) {
      // Reno: cwnd_j = scwnd + j − 1 (after Padhye et al., SIGCOMM 1998, with every segment acknowledged: b = 1).
      window =
        conditions.congestionControl === 'cubic'
          ? cubicClimb(epoch, passed, sinceMs, window)
          : epoch.start + passed;
    }
    passed++;
    if (passed > MAX_ROUNDS) throw new RangeError(`no loss within ${MAX_ROUNDS} rounds`);
    const before = whole;
    whole = Math.floor(window);
    if (whole < part.from) {
      sinceMs += roundMs(conditions, whole);
      continue;
    }
    const round: ClimbRound = {
      window: whole,
      durationMs: roundMs(conditions, whole),
      firstLost: firstLost(conditions, whole, before),
      reached,
    };
    rounds.push(round);
    sinceMs += round.durationMs;
    sent += whole;
    reached *= 1 - round.firstLost.probability;
  }
  return rounds;
}
