/** Claims on what comes next in a long flow: Table 3, Figures 6 and 7, Table 2, Figure 8. */
import { median } from '@hopwise/contract';
import { bootstrapMedian } from '@hopwise/lab/statistics';
import type { Claim, Finding } from '../claim.ts';
import {
  errorsOf,
  type FlowPredictor,
  medianErrors,
  PREDICTORS,
  type PredictedTransfer,
  predictSeconds,
  predictTransfers,
  rivalsUnder,
} from './flow-predictions.ts';
import {
  CHANGE_SECONDS,
  CHANGING,
  LOSSES,
  type LongFlow,
  measureChangingFlow,
  measureLongFlows,
} from './long-flows.ts';

/** Table 3: ECON's median error and its best rival's, percent. */
const TABLE_3 = [
  { econ: 7.8, rival: 25.3 },
  { econ: 15.3, rival: 20.9 },
  { econ: 18.5, rival: 19.9 },
];
const NETWORK = '50 Mbit/s and 30 ms';

/** The flows of a congestion control are measured once for all claims of one call. */
export function flowClaims(): Claim[] {
  const flows = new Map<LongFlow['congestionControl'], Promise<string | LongFlow[]>>();
  const on =
    (
      congestionControl: LongFlow['congestionControl'],
      find: (flows: LongFlow[]) => Finding,
    ): Claim['measure'] =>
    async ({ quick, seed }, context) => {
      if (quick) return { kind: 'skipped', reason: 'flows of the kernel take minutes: run without --quick' };
      const measuring = flows.get(congestionControl) ?? measureLongFlows(congestionControl, seed, context);
      flows.set(congestionControl, measuring);
      const measured = await measuring;
      return typeof measured === 'string' ? { kind: 'skipped', reason: measured } : find(measured);
    };
  return [
    ...LOSSES.map((loss, index): Claim => {
      const { econ, rival } = TABLE_3[index]!;
      return {
        id: `econ-flows-${100 * loss}%`,
        paper: 'econ',
        place: 'Table 3',
        stated: `at ${NETWORK}, ${100 * loss}% loss, ECON's median error of the next second's throughput under Cubic is ${econ}%, the best rival's ${rival}%`,
        measure: on('cubic', (measured) => secondsFinding(measured[index]!, econ / 100)),
      };
    }),
    {
      id: 'econ-flows-reno',
      paper: 'econ',
      place: 'Figure 6',
      stated:
        "under Reno ECON errs less than each rival, PFTK included, on all four networks: a median error of 6.1 to 11.3%, the best rival's 20.1 to 24.8%",
      measure: on('reno', renoFinding),
    },
    {
      id: 'econ-changes',
      paper: 'econ',
      place: 'Figure 7',
      stated:
        'under Reno, in the two minutes after each of four changes of loss or round trip, ECON errs less than each rival, by about 32% on average than the best',
      measure: async ({ quick, seed }, context) => {
        if (quick)
          return { kind: 'skipped', reason: 'a flow of the kernel takes ten minutes: run without --quick' };
        const flow = await measureChangingFlow(seed, context);
        return typeof flow === 'string' ? { kind: 'skipped', reason: flow } : changesFinding(flow);
      },
    },
    {
      id: 'econ-latency',
      paper: 'econ',
      place: 'Table 2',
      stated:
        "ECON errs less than each rival on the time that 1 to 100 MB take under Cubic, on all four networks: a median error of 8.7 to 13.1%, the best rival's 25.4 to 59.0%",
      measure: on('cubic', latencyFinding),
    },
    {
      id: 'econ-latency-sizes',
      paper: 'econ',
      place: 'Figure 8',
      stated:
        "under Reno ECON's median error of that time falls with the size: 14.3% below 10 MB, 10.6% up to 50 MB, 8.9% above",
      measure: on('reno', sizesFinding),
    },
  ];
}

/** @param stated ECON's error in the paper, a fraction */
export function secondsFinding(flow: LongFlow, stated: number): Finding {
  const seconds = predictSeconds(flow);
  const errors = medianErrors(seconds);
  const best = bestOf(errors, rivalsUnder(flow.congestionControl));
  const { low, high } = bootstrapMedian(errorsOf(seconds, 'ECON'));
  return {
    kind: 'measured',
    hopwise: `ECON’s sums over the next second, from windows and losses of up to 100 s before it; one period from the present window, as the paper has it, errs by ${percent(errors['one period'])}`,
    real: {
      source: 'kernel',
      value: errors.ECON,
      max: Math.min(stated, errors[best]),
      bounds: 'ECON’s median error is at most the paper’s, and no rival’s is smaller',
      text: `${seconds.length} seconds of one flow: ${inWords(errors)}; 95% interval of ECON’s ${percent(low)} to ${percent(high)}`,
    },
  };
}

export function renoFinding(flows: readonly LongFlow[]): Finding {
  const judged = flows.map((flow) => ({ flow, errors: medianErrors(predictSeconds(flow)) }));
  const first = judged.filter(({ errors }) => isFirst(errors, 'reno')).length;
  const each = judged.map(({ flow, errors }) => `${100 * flow.loss}%: ${inWords(errors)}`);
  return {
    kind: 'measured',
    hopwise: 'ECON’s sums over the next second',
    real: {
      source: 'kernel',
      value: first / judged.length,
      min: 1,
      bounds: 'no rival’s median error is smaller at any loss',
      text: `smallest for ECON at ${first} of ${judged.length} losses, at ${NETWORK}: ${each.join('; ')}`,
    },
  };
}

/** @param flow over the network that changes */
export function changesFinding(flow: LongFlow): Finding {
  const seconds = predictSeconds(flow);
  const cases = CHANGING.slice(1).map((network, index) => {
    const fromSeconds = CHANGE_SECONDS * (index + 1);
    const own = seconds.filter(({ sample }) => {
      const known = flow.samples[sample]!.seconds;
      return known >= fromSeconds && known < fromSeconds + CHANGE_SECONDS;
    });
    return { network, errors: medianErrors(own) };
  });
  const first = cases.filter(({ errors }) => isFirst(errors, 'reno')).length;
  const each = cases.map(
    ({ network: { rttMs, loss }, errors }) => `${100 * loss}% and ${rttMs} ms: ${inWords(errors)}`,
  );
  return {
    kind: 'measured',
    hopwise: 'ECON’s sums over the next second, from windows and losses of up to 100 s before it',
    real: {
      source: 'kernel',
      value: first / cases.length,
      min: 1,
      bounds: 'no rival’s median error is smaller after any change',
      text: `smallest for ECON after ${first} of ${cases.length} changes, at 50 Mbit/s; ${each.join('; ')}`,
    },
  };
}

export function latencyFinding(flows: readonly LongFlow[]): Finding {
  const judged = flows.map((flow) => {
    const transfers = predictTransfers(flow, predictSeconds(flow));
    return { flow, transfers, errors: medianErrors(transfers) };
  });
  const first = judged.filter(({ errors }) => isFirst(errors, 'cubic')).length;
  const each = judged.map(
    ({ flow, transfers, errors }) => `${100 * flow.loss}%: ${inWords(errors)} of ${transfers.length}`,
  );
  return {
    kind: 'measured',
    hopwise: 'ECON’s sums over the next second, for the whole transfer as in the paper',
    real: {
      source: 'kernel',
      value: first / judged.length,
      min: 1,
      bounds: 'no rival’s median error is smaller at any loss',
      text: `smallest for ECON at ${first} of ${judged.length} losses, at ${NETWORK}: ${each.join('; ')} transfers that begin in mid-flow`,
    },
  };
}

/** Ends of the classes of Figure 8, bytes. */
const CLASSES = [
  { name: 'below 10 MB', holds: (bytes: number) => bytes < 10e6 },
  { name: '10 to 50 MB', holds: (bytes: number) => bytes >= 10e6 && bytes <= 50e6 },
  { name: 'above 50 MB', holds: (bytes: number) => bytes > 50e6 },
];

export function sizesFinding(flows: readonly LongFlow[]): Finding {
  const transfers = flows.flatMap((flow) => predictTransfers(flow, predictSeconds(flow)));
  const classes = CLASSES.flatMap(({ name, holds }) => {
    const own = transfers.filter(({ bytes }: PredictedTransfer) => holds(bytes));
    return own.length === 0 ? [] : [{ name, count: own.length, error: median(errorsOf(own, 'ECON')) }];
  });
  if (classes.length < CLASSES.length)
    return { kind: 'skipped', reason: 'the flows are too short for transfers of all sizes' };
  const rises = classes.slice(1).map(({ error }, index) => error - classes[index]!.error);
  return {
    kind: 'measured',
    hopwise: 'ECON’s sums over the next second, for the whole transfer as in the paper',
    real: {
      source: 'kernel',
      value: Math.max(...rises),
      max: 0,
      bounds: 'the error of no class is above that of the smaller one',
      text: classes.map(({ name, count, error }) => `${name} ${percent(error)} of ${count}`).join(', '),
    },
  };
}

const bestOf = (errors: Record<FlowPredictor, number>, names: readonly FlowPredictor[]): FlowPredictor =>
  names.reduce((best, name) => (errors[name] < errors[best] ? name : best));

const isFirst = (
  errors: Record<FlowPredictor, number>,
  congestionControl: LongFlow['congestionControl'],
): boolean => errors.ECON <= errors[bestOf(errors, rivalsUnder(congestionControl))];

const inWords = (errors: Record<FlowPredictor, number>): string =>
  PREDICTORS.map((name) => `${name} ${percent(errors[name])}`).join(', ');

const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
