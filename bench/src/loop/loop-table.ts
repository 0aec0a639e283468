import { table } from '@hopwise/lab/output/table';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { ARMS, type ArmName } from './decision-loop.ts';
import type { LoopFigures } from './judge-loop.ts';

const NAMES: Record<ArmName, string> = {
  natural: "browser's own",
  h1: 'HTTP/1.1',
  h2: 'HTTP/2',
  h3: 'HTTP/3',
};

/** The figures in words; load times are means. */
export function showLoop({
  loads,
  ratio,
  phases,
  fixed,
  oracle,
  explored,
  trials,
  disturbed,
}: LoopFigures): string {
  const rows = [
    [
      'network',
      'loads',
      'loop',
      'against own',
      ...ARMS.map((arm) => NAMES[arm]),
      'best',
      'loads until found',
    ],
    ...phases.map((phase) => [
      `${phase.key}: ${phase.network}`,
      `${phase.loads}`,
      seconds(phase.loopMs),
      `${change(phase.ratio.estimate)} (${change(phase.ratio.low)} to ${change(phase.ratio.high)})`,
      ...ARMS.map((arm) => seconds(arm === 'natural' ? phase.naturalMs : phase.armsMs[arm])),
      phase.best === null ? '–' : NAMES[phase.best],
      phase.untilBest === null ? 'not found' : `${phase.untilBest}`,
    ]),
  ];
  const fixedRows = [
    ...PROTOCOLS.flatMap((arm) =>
      fixed[arm] === undefined ? [] : [[`always ${NAMES[arm]}`, change(fixed[arm])]],
    ),
    ...(oracle === null ? [] : [['the best one of each phase', change(oracle)]]),
  ];
  return [
    `Closed loop, ${loads} loads: ${change(ratio.estimate)} (95% interval ${change(ratio.low)} to ${change(ratio.high)}) of the mean load time with the browser's own choice, measured beside it.`,
    `Exploring took ${(100 * explored.share).toFixed(2)}% of the time in ${explored.loads} loads, ${trials.loads} trials after changes ${(100 * trials.share).toFixed(2)}%.`,
    ...(disturbed === 0
      ? []
      : [`Other work on the machine disturbed ${disturbed} of ${2 * loads} loads at each attempt.`]),
    'Protocols are forced by flags of the browser; in the extension pins do that.',
    '',
    table(rows, { numbers: true }),
    '',
    'By the reference loads of all protocols, against the browser’s own choice:',
    table(fixedRows, { numbers: true }),
    '',
  ].join('\n');
}

const seconds = (ms: number | undefined): string => (ms === undefined ? '–' : `${(ms / 1000).toFixed(2)} s`);
const change = (ratio: number): string =>
  `${ratio < 1 ? '−' : '+'}${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;
