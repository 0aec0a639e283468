import { join } from 'node:path';
import { lossByClimb } from '@hopwise/pageload-emulator/econ';
import { steadyThroughput } from '../../econ/steady-throughput.ts';
import { type Claim, type Finding, incomparable } from '../claim.ts';
import { flowClaims } from './flow-claims.ts';
import { countChoices, type HttpTimes, meanError, measureHttp } from './http-objects.ts';
import { isHighAtBothEnds, type LossCurve, middleWindow, readCurves } from './loss-curves.ts';
import { pageClaims } from './page-claims.ts';
import { countRight, measureVideo, type VideoCase } from './video-segments.ts';

/** Section 5.1: from the eastern United States to Japan. */
const AZURE_RTT_MS = 200;

/** The curves are read, and objects loaded, once for all claims of one call. */
export function econClaims(): Claim[] {
  let curves: Promise<LossCurve[] | null> | undefined;
  let http: Promise<string | HttpTimes[]> | undefined;
  const onHttp =
    (find: (times: HttpTimes[]) => Finding): Claim['measure'] =>
    async ({ quick, seed }, context) => {
      if (quick) return { kind: 'skipped', reason: 'page loads take minutes: run without --quick' };
      http ??= measureHttp(seed, context);
      const times = await http;
      return typeof times === 'string' ? { kind: 'skipped', reason: times } : find(times);
    };
  const errorOf = (protocol: 'h1' | 'h2', stated: number): Claim => ({
    id: `econ-${protocol}-latency`,
    paper: 'econ',
    place: 'Figure 10',
    stated: `the mean error of the latency of 500 objects under HTTP/${protocol === 'h1' ? '1.1' : '2'} is ${percent(stated)}`,
    measure: onHttp((times) => httpErrorFinding(times, protocol, stated)),
  });
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
    ...flowClaims(),
    errorOf('h1', 0.03),
    errorOf('h2', 0.074),
    {
      id: 'econ-http-choice',
      paper: 'econ',
      place: 'Figure 11',
      stated: 'ECON chooses the faster of HTTP/1.1 and HTTP/2 in all 16 scenarios',
      measure: onHttp(httpChoiceFinding),
    },
    ...pageClaims(),
    {
      id: 'econ-video',
      paper: 'econ',
      place: 'Table 5',
      stated:
        'at 1% loss ECON finds the highest quality of a video in time for 3 of 4 round trips, the best rivals for 2',
      measure: async ({ quick, seed }, context) => {
        if (quick)
          return { kind: 'skipped', reason: 'segments over the kernel take minutes: run without --quick' };
        const cases = await measureVideo(seed, context);
        return typeof cases === 'string' ? { kind: 'skipped', reason: cases } : videoFinding(cases);
      },
    },
    {
      id: 'econ-networks',
      paper: 'econ',
      place: 'Figures 5 and 9',
      stated:
        "ECON's median error of the throughput under Cubic is 9.2 to 15.5% on four networks, that of the latency over Wi-Fi 9.1%",
      measure: incomparable(
        'these networks cannot be had on one machine, and the released files have loss by window alone; econ-flows-* and econ-latency are the same predictions on an emulated one',
      ),
    },
  ];
}

function httpErrorFinding(times: readonly HttpTimes[], protocol: 'h1' | 'h2', stated: number): Finding {
  const value = meanError(times, protocol);
  const each = times
    .filter(({ experiment }) => experiment.figure === 10)
    .map(
      ({ experiment, econ, measured }) =>
        `${experiment.objectBytes / 1000} kB at ${100 * experiment.loss}% ${Math.round(measured[protocol])} ms (ECON ${Math.round(econ[protocol])} ms)`,
    );
  return {
    kind: 'measured',
    hopwise:
      'ECON’s models of HTTP, from the link’s settings: 50 Mbit/s, 30 ms, one bandwidth-delay product of queue',
    real: {
      source: 'Chromium',
      value,
      max: stated,
      bounds: 'the mean error is at most the paper’s',
      text: `mean error ${percent(value)}: ${each.join(', ')}; 500 objects of 1 MB loaded once; the browser’s own time for 500 objects is in the measured ones alone`,
    },
  };
}

function httpChoiceFinding(times: readonly HttpTimes[]): Finding {
  const { right, all } = countChoices(times);
  const each = times
    .filter(({ experiment }) => experiment.figure === 11)
    .map(
      ({ experiment, econ, measured }) =>
        `${experiment.objects} × ${experiment.objectBytes / 1000} kB, ${100 * experiment.loss}%, ${experiment.rttMs} ms: ${(measured.h1 / measured.h2).toFixed(2)} (ECON ${(econ.h1 / econ.h2).toFixed(2)})`,
    );
  return {
    kind: 'measured',
    hopwise: 'ECON’s models of HTTP, from the link’s settings',
    real: {
      source: 'Chromium',
      value: right / all,
      min: 1,
      bounds: 'its choice takes at most 5% longer than the other protocol in all scenarios',
      text: `right in ${right} of ${all}; times of HTTP/1.1 over HTTP/2: ${each.join('; ')}; 500 objects of 1 MB loaded once`,
    },
  };
}

function videoFinding(cases: readonly VideoCase[]): Finding {
  const { econ, rivals } = countRight(cases);
  const best = Math.max(...Object.values(rivals));
  const name = (quality: string | null) => quality ?? 'none';
  const perCase = cases.map(({ rttMs, truth }) => `${rttMs} ms ${name(truth)}`).join(', ');
  const rights = Object.entries(rivals).map(([rival, count]) => `${rival} ${count}`);
  return {
    kind: 'measured',
    hopwise: `ECON from the network alone chooses ${cases.map((each) => name(each.econ)).join(', ')}`,
    real: {
      source: 'kernel',
      value: econ - best,
      min: 1,
      bounds: 'ECON is right for more round trips than each rival',
      text: `highest quality in time: ${perCase}; right for ECON ${econ}, ${rights.join(', ')} of ${cases.length}`,
    },
  };
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
