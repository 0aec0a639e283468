import type { ProgramContext } from '@hopwise/lab/command/program';
import type { Claim, ClaimOptions, Finding } from '../claim.ts';
import { gainsOf, type StartGain, type StartTimes } from './start-gains.ts';
import { measureStarts } from './start-rates.ts';
import { LONG_BYTES, SHORT_BYTES, type StartSender } from './starts.ts';

const WORDS: Record<StartSender, string> = {
  quiche:
    'quiche’s Cubic, which the server starts at the rate that the client has announced, against an initial window of 32 packets, both paced, as is the flow in progress',
  kernel:
    'the kernel’s Cubic, which the server starts at the rate that the client has announced, against an initial window of 32 segments, both paced, as is the flow in progress',
};

type Find = (times: readonly StartTimes[], sender: StartSender) => Finding;

const CLAIMS: readonly (Pick<Claim, 'place' | 'stated'> & { name: string; find: Find })[] = [
  {
    name: 'right-rate',
    place: 'table of the evaluation',
    stated:
      'at the true rate, beside a flow in progress, 2 MB take 0.56 s (slow DSL), 0.66 s (fast DSL), 2.2 s (3G) and 3.4 s (LTE) less',
    find: longFinding,
  },
  {
    name: 'half-rate',
    place: 'table of the evaluation',
    stated:
      'at half the true rate 2 MB take 0.17 s (slow DSL) and 1.9 s (LTE) less, 0.45 s (3G) more, and on fast DSL no significantly other time',
    find: halfFinding,
  },
  {
    name: 'short-flows',
    place: 'table of the evaluation',
    stated: '70 KB gain nothing significant on DSL and 3G, and 0.22 s on LTE',
    find: shortFinding,
  },
  {
    name: 'wrong-rate',
    place: 'table of the evaluation',
    stated:
      'at 4 times the true rate 2 MB lose 37 times as many packets on slow DSL, 40 times on fast DSL, and still take 1.0 and 0.92 s less',
    find: wrongFinding,
  },
];

/** The slides are about QUIC; what the kernel's TCP does is further evidence, with verdicts of its own. */
export const blitzClaims = (): Claim[] => [
  ...claimsOf('quiche', 'blitz-quic'),
  ...claimsOf('kernel', 'blitz'),
];

function claimsOf(sender: StartSender, prefix: string): Claim[] {
  // One measurement serves all claims.
  let measured: Promise<string | StartTimes[]> | undefined;
  return CLAIMS.map(({ name, find, ...claim }) => ({
    ...claim,
    id: `${prefix}-${name}`,
    paper: 'blitz',
    async measure(options: ClaimOptions, context: ProgramContext) {
      if (options.quick)
        return { kind: 'skipped', reason: 'flows in the lab take minutes: run without --quick' };
      measured ??= measureStarts(sender, options, context);
      const times = await measured;
      return typeof times === 'string' ? { kind: 'skipped', reason: times } : find(times, sender);
    },
  }));
}

function longFinding(times: readonly StartTimes[], sender: StartSender): Finding {
  const gains = gainsOf(times, LONG_BYTES, 1);
  return {
    kind: 'measured',
    hopwise: emulated(gains),
    real: {
      source: sender,
      value: gains.filter(({ gainMs }) => gainMs.low > 0).length,
      min: gains.length,
      bounds: 'the 95% interval of the gain is above 0 on all links',
      text: `${WORDS[sender]}: ${gains.map(describe).join('; ')}`,
    },
  };
}

function halfFinding(times: readonly StartTimes[], sender: StartSender): Finding {
  return gainsFinding(gainsOf(times, LONG_BYTES, 0.5), sender, {
    agrees: ({ link, gainMs }) =>
      link.name === '3G' ? gainMs.high < 0 : link.name === 'fast DSL' || gainMs.low > 0,
    bounds: 'the 95% interval of the gain is above 0 on slow DSL and LTE, and below 0 on 3G',
  });
}

function shortFinding(times: readonly StartTimes[], sender: StartSender): Finding {
  return gainsFinding(gainsOf(times, SHORT_BYTES, 1), sender, {
    agrees: ({ link, gainMs }) =>
      link.name === 'LTE' ? gainMs.low > 0 : gainMs.low <= 0 && gainMs.high >= 0,
    bounds: 'the 95% interval of the gain holds 0 on DSL and 3G, and is above 0 on LTE',
  });
}

/** Holds if the gains on all links agree with the claim. */
function gainsFinding(
  gains: readonly StartGain[],
  source: StartSender,
  { agrees, bounds }: { agrees: (gain: StartGain) => boolean; bounds: string },
): Finding {
  return {
    kind: 'measured',
    hopwise: emulated(gains),
    real: {
      source,
      value: gains.filter(agrees).length,
      min: gains.length,
      bounds,
      text: gains.map(describe).join('; '),
    },
  };
}

/** An order of magnitude: the slides count the flow's own packets, the lab those of both flows. */
const MANY_TIMES = 10;

function wrongFinding(times: readonly StartTimes[], sender: StartSender): Finding {
  const gains = gainsOf(times, LONG_BYTES, 4);
  const dsl = gains.filter(({ link }) => link.name.endsWith('DSL'));
  return {
    kind: 'measured',
    hopwise: emulated(gains),
    real: {
      source: sender,
      value: Math.min(...dsl.map(({ drops }) => drops.start / Math.max(1, drops.slowStart))),
      min: MANY_TIMES,
      bounds: `the queue drops at least ${MANY_TIMES} times as many packets of both flows on DSL`,
      text: gains.map(describe).join('; '),
    },
  };
}

function describe({ link, gainMs, speedup, drops }: StartGain): string {
  const { median, low, high } = gainMs;
  return `${link.name} ${seconds(median)} s less (${seconds(low)} to ${seconds(high)}; ${speedup.toFixed(1)} times as fast), drops ${drops.slowStart} → ${drops.start}`;
}

const emulated = (gains: readonly StartGain[]): string =>
  `the emulator: ${gains.map(({ link, emulatedGainMs }) => `${link.name} ${seconds(emulatedGainMs)} s less`).join(', ')}`;

const seconds = (ms: number): string => (ms / 1000).toFixed(2);
