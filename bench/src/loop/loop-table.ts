import { table } from '@hopwise/contract/terminal';
import { seconds, showRatio } from '../product/figure-text.ts';
import { FIXED, type FixedArm, type LoopFigures } from './judge-loop.ts';

const NAMES: Record<FixedArm, string> = {
  off: "browser's own",
  h1: 'HTTP/1.1',
  h2: 'HTTP/2',
  h3: 'HTTP/3',
};

/** The figures in words; load times are means. @param introduction lines that say what they are of */
export function showLoop(introduction: readonly string[], figures: readonly LoopFigures[]): string {
  const networks = figures.map(({ network, againstOff, againstReachable, againstBest }) => [
    network,
    showRatio(againstOff),
    showRatio(againstReachable),
    showRatio(againstBest),
  ]);
  // The last one has those of all networks.
  const cells = figures
    .at(-1)!
    .cells.map(({ network, page, visits, loopMs, fixedMs, best, disturbed }) => [
      `${network}, ${page}`,
      seconds(loopMs),
      ...FIXED.map((arm) => seconds(fixedMs[arm])),
      NAMES[best],
      `${disturbed} of ${visits}`,
    ]);
  return [
    ...introduction,
    '',
    table(
      [
        ['network', 'against the browser’s own choice', 'the better of it and HTTP/2', 'the best fixed one'],
        ...networks,
      ],
      {
        numbers: true,
      },
    ),
    '',
    table([['page', 'loop', ...FIXED.map((arm) => NAMES[arm]), 'best', 'disturbed'], ...cells], {
      numbers: true,
    }),
    '',
  ].join('\n');
}
