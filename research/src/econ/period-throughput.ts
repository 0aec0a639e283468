import { climb, type Epoch, type FlowConditions } from '@hopwise/pageload-emulator/econ';
import { expectedDuration, expectedFirstLoss, expectedRounds, expectedWindowAtLoss } from './period-sums.ts';

/** Means over a triple-duplicate period: from an epoch's start to the round in which the sender detects its loss. */
interface Period {
  /** ECON's E[M]: number of the first lost segment. */
  firstLoss: number;
  /** ECON's E[X]: round of the first loss. */
  rounds: number;
  /** E[cwnd_X]: window in that round. */
  windowAtLoss: number;
  /** ECON's E[N]: segments delivered. */
  segments: number;
  durationMs: number;
  /** ECON's B. */
  segmentsPerMs: number;
}

/**
 * ECON's throughput of a triple-duplicate period, B = E[N] / ((E[X] + 1)·RTT) with E[N] = E[M] − 1 + E[cwnd_X]:
 * what is sent before the lost segment, the rest of its window, and in the round after it one for
 * each acknowledgement and the lost one again.
 */
export function periodThroughput(conditions: FlowConditions, epoch: Epoch): Period {
  const rounds = climb(conditions, epoch);
  const firstLoss = expectedFirstLoss(rounds);
  const windowAtLoss = expectedWindowAtLoss(rounds);
  const segments = firstLoss - 1 + windowAtLoss;
  const durationMs = expectedDuration(rounds);
  return {
    firstLoss,
    rounds: expectedRounds(rounds),
    windowAtLoss,
    segments,
    durationMs,
    segmentsPerMs: segments / durationMs,
  };
}
