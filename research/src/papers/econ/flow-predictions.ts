/** What comes next in a long flow, predicted from what was measured in it so far (section 5.2). */

import { median } from '@hopwise/contract';
import { lossByRound, type WindowCount } from '@hopwise/pageload-emulator/econ';
import { periodThroughput } from '../../econ/period-throughput.ts';
import { type FlowSample, type LongFlow, SAMPLES_PER_SECOND } from './long-flows.ts';
import { pftkSegmentsPerMs, RIVALS } from './rivals.ts';
import { KEPT, segmentsAhead } from './segments-ahead.ts';

/** Section 5.1: what formulas, and what histories are taken from. */
const FORMULA_SECONDS = 100;
const HISTORY_SECONDS = 10;

/** `one period`: the paper's B(scwnd, p), of which `ECON` is the sum over the periods of the predicted time. */
export const PREDICTORS = ['ECON', 'one period', 'PFTK', ...objectKeys(RIVALS)] as const;
export type FlowPredictor = (typeof PREDICTORS)[number];

/** Section 5.1: PFTK is a model of Reno. */
export const rivalsUnder = (congestionControl: LongFlow['congestionControl']): FlowPredictor[] => [
  ...objectKeys(RIVALS),
  ...(congestionControl === 'reno' ? (['PFTK'] as const) : []),
];

/** A moment of a flow, with the throughput that each predicts for the next second, bytes per second. */
interface PredictedSecond {
  /** Index into `samples`: its state is known to the predictors. */
  sample: number;
  actual: number;
  predicted: Record<FlowPredictor, number>;
}

/** Every second from when the shorter history is full. */
export function predictSeconds(flow: LongFlow): PredictedSecond[] {
  const { samples } = flow;
  const ends = samples.flatMap((_, index) => ((index + 1) % SAMPLES_PER_SECOND === 0 ? [index] : []));
  const rates = ends.slice(1).map((end, index) => rateBetween(samples[ends[index]!]!, samples[end]!));
  return rates.slice(HISTORY_SECONDS).map((actual, index) => {
    const sample = ends[index + HISTORY_SECONDS]!;
    const history = rates.slice(index, index + HISTORY_SECONDS);
    const byHistory = objectKeys(RIVALS).map((name) => [name, RIVALS[name](history)] as const);
    return {
      sample,
      actual,
      predicted: { ...Object.fromEntries(byHistory), ...byFormulas(flow, sample) } as Record<
        FlowPredictor,
        number
      >,
    };
  });
}

/** Bytes per second after a sample, by the formulas. */
function byFormulas(
  { congestionControl, mss, samples }: LongFlow,
  sample: number,
): Record<'ECON' | 'one period' | 'PFTK', number> {
  const known = samples.slice(Math.max(0, sample + 1 - FORMULA_SECONDS * SAMPLES_PER_SECOND), sample + 1);
  const counts = joinCounts(known);
  const rttMs = known.reduce((sum, each) => sum + each.rttMs, 0) / known.length;
  const conditions = { congestionControl, rttMs, loss: lossByRound(counts) };
  const { cwnd, ssthresh, reducing } = samples[sample]!;
  const kept = KEPT[congestionControl];
  const period = periodThroughput(conditions, { start: cwnd, windowMax: cwnd / kept, prior: cwnd / kept });
  const bytesPerSecond = 1_000 * mss;
  return {
    ECON: segmentsAhead(conditions, { window: cwnd, ssthresh, reducing }, 1_000) * mss,
    'one period': period.segmentsPerMs * bytesPerSecond,
    PFTK: pftkSegmentsPerMs(eventRate(counts), rttMs) * bytesPerSecond,
  };
}

/** Counts by window over all samples. */
export function joinCounts(samples: readonly Pick<FlowSample, 'windows'>[]): WindowCount[] {
  const joined = new Map<number, WindowCount>();
  for (const { cwnd, rounds, packets, lossEvents } of samples.flatMap(({ windows }) => windows)) {
    const before = joined.get(cwnd) ?? { cwnd, rounds: 0, packets: 0, lossEvents: 0 };
    joined.set(cwnd, {
      cwnd,
      rounds: before.rounds + rounds,
      packets: before.packets + packets,
      lossEvents: before.lossEvents + lossEvents,
    });
  }
  return [...joined.values()];
}

/** Loss events per packet. */
const eventRate = (counts: readonly WindowCount[]): number =>
  counts.reduce((sum, { lossEvents }) => sum + lossEvents, 0) /
  counts.reduce((sum, { packets }) => sum + packets, 0);

/** A transfer that begins in mid-flow, with what each predicts of its time. */
export interface PredictedTransfer {
  bytes: number;
  actual: number;
  predicted: Record<FlowPredictor, number>;
}

/** Sizes of section 5.3, which has 1 to 100 MB. */
const TRANSFER_MB = [1, 2, 5, 10, 20, 50, 100];

/** The next so many bytes from every predicted second on, as far as the flow lasts: the rate of the next second is taken for all of them, as in section 5.3. */
export function predictTransfers(
  { samples }: LongFlow,
  seconds: readonly PredictedSecond[],
): PredictedTransfer[] {
  return seconds.flatMap(({ sample, predicted }) =>
    TRANSFER_MB.flatMap((megabytes): PredictedTransfer[] => {
      const bytes = 1e6 * megabytes;
      const actual = secondsFor(samples, sample, bytes);
      if (actual === null) return [];
      const times = PREDICTORS.map((name) => [name, bytes / predicted[name]] as const);
      return [{ bytes, actual, predicted: Object.fromEntries(times) as Record<FlowPredictor, number> }];
    }),
  );
}

/** Time until so many further bytes have been delivered; null where the flow ends before. */
function secondsFor(samples: readonly FlowSample[], from: number, bytes: number): number | null {
  const start = samples[from]!;
  const wanted = start.deliveredBytes + bytes;
  const after = samples.findIndex((each, index) => index > from && each.deliveredBytes >= wanted);
  if (after < 0) return null;
  const [before, end] = [samples[after - 1]!, samples[after]!];
  const part = (wanted - before.deliveredBytes) / (end.deliveredBytes - before.deliveredBytes);
  return before.seconds + part * (end.seconds - before.seconds) - start.seconds;
}

/** Median of |predicted / actual − 1|, by predictor. */
export function medianErrors(
  cases: readonly { actual: number; predicted: Record<FlowPredictor, number> }[],
): Record<FlowPredictor, number> {
  const errors = PREDICTORS.map((name) => [name, median(errorsOf(cases, name))] as const);
  return Object.fromEntries(errors) as Record<FlowPredictor, number>;
}

export const errorsOf = (
  cases: readonly { actual: number; predicted: Record<FlowPredictor, number> }[],
  name: FlowPredictor,
): number[] => cases.map(({ actual, predicted }) => Math.abs(predicted[name] / actual - 1));

const rateBetween = (from: FlowSample, to: FlowSample): number =>
  (to.deliveredBytes - from.deliveredBytes) / (to.seconds - from.seconds);

function objectKeys<K extends string>(of: Record<K, unknown>): K[] {
  return Object.keys(of) as K[];
}
