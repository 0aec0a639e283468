/** ECON's sums beside the oracle's simulation of the same conditions. */

import {
  bottleneckShare,
  type Epoch,
  epochAfterLoss,
  type FlowConditions,
  type LossByWindow,
  lossBySegment,
} from '@hopwise/pageload-emulator/econ';
import { FlowLatency } from './flow-latency.ts';
import {
  type Mean,
  type OracleConditions,
  simulateFlows,
  simulateLongFlow,
  simulatePeriods,
  simulateSlowStarts,
} from './oracle.ts';
import { periodThroughput } from './period-throughput.ts';
import { slowStart } from './slow-start-throughput.ts';
import { steadyThroughput } from './steady-throughput.ts';

export interface Configuration {
  name: string;
  conditions: FlowConditions;
  oracle: OracleConditions;
  /** The period's state. */
  epoch: Epoch;
}

export interface Compared {
  configuration: string;
  quantity: string;
  closed: number;
  simulated: Mean;
}

const algorithms = ['cubic', 'reno'] as const;

/** 24 with one loss per segment for all windows, 6 with one that rises, 6 with events by round, 6 with a full queue. */
export const CONFIGURATIONS: Configuration[] = [
  ...algorithms.flatMap((congestionControl) =>
    [10, 50, 200].flatMap((rttMs) =>
      [5e-4, 2e-3, 1e-2, 3e-2].map((loss) =>
        configuration(`loss ${loss}`, congestionControl, rttMs, { segmentLoss: () => loss }),
      ),
    ),
  ),
  ...algorithms.flatMap((congestionControl) =>
    [10, 50, 200].map((rttMs) =>
      configuration('loss 5e-5·cwnd', congestionControl, rttMs, {
        segmentLoss: (cwnd) => Math.min(0.5, 5e-5 * cwnd),
      }),
    ),
  ),
  ...algorithms.flatMap((congestionControl) =>
    [10, 50, 200].map((rttMs) =>
      configuration('events 1e-3·cwnd', congestionControl, rttMs, {
        roundLoss: (cwnd) => Math.min(1, 1e-3 * cwnd),
      }),
    ),
  ),
  ...algorithms.flatMap((congestionControl) =>
    (
      [
        [30, 0.8, 30],
        [60, 1.5, 60],
        [100, 0.4, 20],
      ] as const
    ).map(([rttMs, segmentsPerMs, queue]) =>
      configuration(`loss 5e-4, queue ${queue}`, congestionControl, rttMs, {
        segmentLoss: () => 5e-4,
        ...bottleneckShare(rttMs, segmentsPerMs, queue, 1),
      }),
    ),
  ),
];

function configuration(
  name: string,
  congestionControl: 'cubic' | 'reno',
  rttMs: number,
  path: Omit<OracleConditions, 'cubic' | 'rttMs'>,
): Configuration {
  const { segmentLoss, roundLoss, ...bottleneck } = path;
  return {
    name: `${congestionControl}, ${rttMs} ms, ${name}`,
    conditions: {
      congestionControl,
      rttMs,
      loss: segmentLoss ? lossBySegment(segmentLoss) : lossByEvent(roundLoss!),
      ...bottleneck,
    },
    oracle: { cubic: congestionControl === 'cubic', rttMs, ...path },
    epoch: epochAfterLoss(congestionControl, 40, 0),
  };
}

function lossByEvent(roundLoss: (cwnd: number) => number): LossByWindow {
  return { inRound: roundLoss, smallest: 1, largest: Number.POSITIVE_INFINITY };
}

const FLOWS = [25, 100, 500, 2_000];
const INITIAL_WINDOW = 10;
const SSTHRESH = 64;

/** @param samples periods and flows that the oracle draws for each quantity */
export function compare(configuration: Configuration, samples: number, seed: number): Compared[] {
  const { name, conditions, oracle, epoch } = configuration;
  const rows: Compared[] = [];
  const row = (quantity: string, closed: number, simulated: Mean) =>
    rows.push({ configuration: name, quantity, closed, simulated });

  const period = periodThroughput(conditions, epoch);
  const periods = simulatePeriods(oracle, epoch, samples, seed);
  row('E[M]', period.firstLoss, periods.firstLoss);
  row('E[X]', period.rounds, periods.rounds);
  row('E[cwnd_X]', period.windowAtLoss, periods.windowAtLoss);
  row('E[N]', period.segments, periods.segments);
  row('B', period.segmentsPerMs, periods.segmentsPerMs);

  row(
    'steady B',
    steadyThroughput(conditions).segmentsPerMs,
    simulateLongFlow(oracle, 2 * samples, seed + 1),
  );

  const from = { window: INITIAL_WINDOW, ssthresh: SSTHRESH };
  const begun = slowStart(conditions, from);
  const slowStarts = simulateSlowStarts(oracle, from, samples, seed + 2);
  row('slow start segments', begun.segments, slowStarts.segments);
  row('slow start B', begun.segmentsPerMs, slowStarts.segmentsPerMs);
  row('slow start loss', begun.lossProbability, slowStarts.losses);
  row('slow start exit', begun.windowAtExit, slowStarts.windowAtExit);

  const latency = new FlowLatency(conditions);
  for (const size of FLOWS) {
    row(
      `L(${size})`,
      latency.latencyMs(size, { window: INITIAL_WINDOW }),
      simulateFlows(
        oracle,
        size,
        { window: INITIAL_WINDOW, ssthresh: Number.POSITIVE_INFINITY },
        samples / 2,
        seed + size,
      ),
    );
  }
  row(
    'L(500), ssthresh',
    latency.latencyMs(500, from),
    simulateFlows(oracle, 500, from, samples / 2, seed + 3),
  );
  return rows;
}

/** How many standard errors of the simulation lie between it and the sum. */
export function zScore({ closed, simulated }: Compared): number {
  const difference = closed - simulated.value;
  // What the last bits of a sum differ by is no difference.
  if (Math.abs(difference) <= 1e-9 * Math.abs(closed)) return 0;
  return difference / simulated.standardError;
}

export function signedError({ closed, simulated }: Compared): number {
  return closed / simulated.value - 1;
}

export function byQuantity(rows: readonly Compared[]): Map<string, Compared[]> {
  const groups = new Map<string, Compared[]>();
  for (const row of rows) groups.set(row.quantity, [...(groups.get(row.quantity) ?? []), row]);
  return groups;
}
