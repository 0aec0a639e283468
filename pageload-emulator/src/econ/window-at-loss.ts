import type { Round } from './climb.ts';

/**
 * E[cwnd_X], the mean window in the round of the loss. ECON takes the window of the mean round, cwnd_{E[X]},
 * which is up to 6% less or more (Jensen's inequality): the mean is over the distribution of X.
 */
export function expectedWindowAtLoss(rounds: readonly Round[]): number {
  return rounds.reduce(
    (sum, { reached, firstLost, window }) => sum + reached * firstLost.probability * window,
    0,
  );
}
