import type { Round } from './climb.ts';

/**
 * ECON's E[X], the round of a period's first loss: Σ over rounds j ≥ 1 of P(X ≥ j), the survival product
 * up to the round before.
 */
export function expectedRounds(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { reached }) => sum + reached, 0);
}

/**
 * The mean duration of a period: (E[X] + 1)·RTT where each round takes a round trip. The round after the
 * loss, in which the sender detects it, takes as long as the one with the loss.
 *
 * @returns milliseconds
 */
export function expectedDuration(rounds: readonly Round[]): number {
  return rounds.reduce(
    (sum, { reached, durationMs, firstLost }) => sum + reached * (1 + firstLost.probability) * durationMs,
    0,
  );
}
