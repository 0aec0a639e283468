import { join } from 'node:path';
import { lossByClimb, steadyThroughput } from '@hopwise/pageload-emulator';
import { type Claim, type Finding, incomparable } from '../claim.ts';
import { type FlowErrors, LOSSES, measureFlowErrors } from './kernel-flows.ts';
import { isHighAtBothEnds, type LossCurve, middleWindow, readCurves } from './loss-curves.ts';

/** Table 3: ECON's median error and its best rival's, percent. */
const TABLE_3 = [
  { econ: 7.8, rival: 25.3 },
  { econ: 15.3, rival: 20.9 },
  { econ: 18.5, rival: 19.9 },
];
/** Section 5.1: from the eastern United States to Japan. */
const AZURE_RTT_MS = 200;

/** The curves are read, and the flows measured, once for all claims of one call. */
export function econClaims(): Claim[] {
  let curves: Promise<LossCurve[] | null> | undefined;
  let flows: Promise<string | FlowErrors[]> | undefined;
  const onCurves =
    (find: (curves: LossCurve[]) => Finding): Claim['measure'] =>
    async ({ data }) => {
      if (data === undefined) return { kind: 'skipped', reason: 'data not given: --data' };
      curves ??= readCurves(join(data, 'econ-pcwnd'));
      const read = await curves;
      return read === null || read.length === 0
        ? { kind: 'skipped', reason: 'no econ-pcwnd/NETWORK_CONTROL_npcN.csv.gz in --data' }
        : find(read);
    };

  const flowsAt = (index: number): Claim => ({
    id: `econ-flows-${100 * LOSSES[index]!}%`,
    paper: 'econ',
    place: 'Table 3',
    stated: `at 50 Mbit/s, 30 ms and ${100 * LOSSES[index]!}% loss ECON's median error is ${TABLE_3[index]!.econ}%, the best rival's ${TABLE_3[index]!.rival}%`,
    measure: async ({ quick, seed }, context) => {
      if (quick) return { kind: 'skipped', reason: 'flows of the kernel take minutes: run without --quick' };
      flows ??= measureFlowErrors(seed, context);
      const errors = await flows;
      if (typeof errors === 'string') return { kind: 'skipped', reason: errors };
      const { econ, rivals } = errors[index]!;
      const figures = Object.entries({ ECON: econ, ...rivals }).map(
        ([name, error]) => `${name} ${percent(error)}`,
      );
      return {
        kind: 'incomparable',
        reason: `the paper predicts the next second of a long flow from the loss that it has measured in it; whole flows of 2 MB of the kernel, from the link's settings: ${figures.join(', ')}`,
      };
    },
  });

  return [
    {
      id: 'econ-loss-azure',
      paper: 'econ',
      place: 'Figure 3',
      stated: 'on Azure under Cubic loss falls, then rises with the congestion window',
      measure: onCurves((read) => {
        const own = read.filter(
          ({ network, congestionControl }) => network === 'azure' && congestionControl === 'cubic',
        );
        if (own.length === 0) return { kind: 'skipped', reason: 'no azure_cubic_npcN.csv.gz in --data' };
        return shapeFinding(own);
      }),
    },
    {
      id: 'econ-loss-others',
      paper: 'econ',
      place: 'Section 3.2',
      stated: 'the other networks have similar curves',
      measure: onCurves((read) => {
        const own = read.filter(
          ({ network, congestionControl }) => network !== 'azure' || congestionControl !== 'cubic',
        );
        if (own.length === 0) return { kind: 'skipped', reason: 'no other network in --data' };
        return {
          kind: 'incomparable',
          reason: `the paper gives no number; loss is high at both ends in ${own.filter(isHighAtBothEnds).length} of ${own.length} curves`,
        };
      }),
    },
    {
      id: 'econ-windows-by-connections',
      paper: 'econ',
      place: 'Section 3.2',
      stated: 'with more parallel connections each has a smaller congestion window',
      measure: onCurves((read) => {
        const pairs = read
          .filter(({ connections }) => connections === 1)
          .flatMap((one) => {
            const ten = read.find(
              ({ network, congestionControl, connections }) =>
                network === one.network && congestionControl === one.congestionControl && connections === 10,
            );
            return ten ? [{ one, ten }] : [];
          });
        if (pairs.length === 0)
          return { kind: 'skipped', reason: 'no curves of 1 and 10 connections in --data' };
        const smaller = pairs.filter(({ one, ten }) => middleWindow(ten) < middleWindow(one)).length;
        return {
          kind: 'measured',
          hopwise: throughputs(pairs[0]!),
          real: {
            source: 'released data',
            value: smaller / pairs.length,
            min: 1,
            bounds: 'in all networks',
            text: `smaller with 10 than with 1 in ${smaller} of ${pairs.length} networks`,
          },
        };
      }),
    },
    ...LOSSES.map((_, index) => flowsAt(index)),
    {
      id: 'econ-latency',
      paper: 'econ',
      place: 'Table 2, Figures 5, 6, 8 and 9',
      stated: "ECON's median error of the latency is 8.7 to 13.1% on four networks",
      measure: incomparable(
        'the released files have loss by window, without the transfers or windows over time that errors need',
      ),
    },
  ];
}

function shapeFinding(curves: readonly LossCurve[]): Finding {
  const high = curves.filter(isHighAtBothEnds).length;
  return {
    kind: 'measured',
    hopwise: 'reads the curves as they are, and assumes no shape',
    real: {
      source: 'released data',
      value: high / curves.length,
      min: 1,
      bounds:
        'loss in the smallest and the largest tenth of the windows is above that of the middle half in all of them',
      text: `${high} of ${curves.length} curves`,
    },
  };
}

function throughputs({ one, ten }: { one: LossCurve; ten: LossCurve }): string {
  const [alone, shared] = [one, ten].map(({ congestionControl, rows }) =>
    steadyThroughput({
      congestionControl,
      rttMs: AZURE_RTT_MS,
      loss: lossByClimb(rows),
    }).segmentsPerMs.toFixed(2),
  );
  return `ECON expects ${alone} segments/ms of one connection on ${one.network} (${one.congestionControl}, ${AZURE_RTT_MS} ms), ${shared} of each of ten`;
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
