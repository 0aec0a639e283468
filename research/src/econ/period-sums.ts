import type { ClimbRound } from '@hopwise/pageload-emulator/econ';

/** ECON's sums over the rounds of a triple-duplicate period (appendix): from an epoch's start to the detection of its loss. */

/**
 * ECON's E[M], the number of the first segment that is lost, counted from the period's start:
 * Σ of P(M > m) over segments m ≥ 0. Within a round that is a sum with a closed form (`FirstLost.expected`), so
 * that one term is left for each round:
 *
 *     E[M] = Σ_j S_{j−1} · (1 − (1 − p_j)^cwnd_j) / p_j     for independent losses
 *
 * with cwnd_j whole. In the paper's formula scwnd/(1 − β) is outside the sum over rounds.
 */
export function expectedFirstLoss(rounds: readonly ClimbRound[]): number {
  return rounds.reduce((sum, { reached, firstLost }) => sum + reached * firstLost.expected, 0);
}

/**
 * ECON's E[X], the round of a period's first loss: Σ over rounds j ≥ 1 of P(X ≥ j), the survival product
 * up to the round before.
 */
export function expectedRounds(rounds: readonly ClimbRound[]): number {
  return rounds.reduce((sum, { reached }) => sum + reached, 0);
}

/**
 * The mean duration of a period: (E[X] + 1)·RTT where each round takes a round trip. The round after the
 * loss, in which the sender detects it, takes as long as the one with the loss.
 *
 * @returns milliseconds
 */
export function expectedDuration(rounds: readonly ClimbRound[]): number {
  return rounds.reduce(
    (sum, { reached, durationMs, firstLost }) => sum + reached * (1 + firstLost.probability) * durationMs,
    0,
  );
}

/**
 * E[cwnd_X], the mean window in the round of the loss. ECON takes the window of the mean round, cwnd_{E[X]},
 * which is up to 6% less or more (Jensen's inequality): the mean is over the distribution of X.
 */
export function expectedWindowAtLoss(rounds: readonly ClimbRound[]): number {
  return rounds.reduce(
    (sum, { reached, firstLost, window }) => sum + reached * firstLost.probability * window,
    0,
  );
}
