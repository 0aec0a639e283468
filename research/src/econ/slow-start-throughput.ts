import {
  type FlowConditions,
  lossInSlowStart,
  type SlowStartFrom,
  slowStartRounds,
} from '@hopwise/pageload-emulator/econ';
import { expectedDuration, expectedRounds } from './period-sums.ts';

/** Survival below which slow start has ended for certain. */
const NEGLIGIBLE = 1e-12;

/** Means over slow start. */
interface SlowStart {
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
