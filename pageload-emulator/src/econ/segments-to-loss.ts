import type { Round } from './climb.ts';

/**
 * ECON's E[M] (appendix), the number of the first segment that is lost, counted from the period's start:
 * Σ of P(M > m) over segments m ≥ 0. Within a round that is a sum with a closed form (`FirstLost.expected`), so
 * that one term is left for each round:
 *
 *     E[M] = Σ_j S_{j−1} · (1 − (1 − p_j)^cwnd_j) / p_j     for independent losses
 *
 * with cwnd_j whole. In the paper's formula scwnd/(1 − β) is outside the sum over rounds.
 */
export function expectedFirstLoss(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { reached, firstLost }) => sum + reached * firstLost.expected, 0);
}
