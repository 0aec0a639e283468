import { table } from '@hopwise/contract/terminal';
import { PROCESS_KINDS } from '../recorder/processor-time.ts';
import { ARMS, BROWSERS, type BrowserName } from './arms.ts';
import { change, seconds, showRatio } from './figure-text.ts';
import { type ArmFigures, type Upkeep, VISIT_GROUPS } from './judge-product.ts';

/** The figures of a browser in words. @param usesCache whether it had its HTTP cache */
export function showProduct(
  browser: BrowserName,
  usesCache: boolean,
  figures: readonly ArmFigures[],
): string {
  const arms = [...new Set(figures.map(({ arm }) => arm))];
  const sections = arms.map((arm) => {
    const own = figures.filter((each) => each.arm === arm);
    const rows = [
      [
        'network',
        'alone',
        'with it',
        ...VISIT_GROUPS.map(({ name }) => name),
        'waiting',
        'worst page',
        'processor time',
        `of ${PROCESS_KINDS.join(', ')}`,
        'memory',
        'a minute at rest',
        'disturbed',
      ],
      ...own.map((each) => [
        each.network,
        seconds(each.offMs),
        seconds(each.ms),
        ...each.ratios.map((ratio) => (ratio === null ? '–' : showRatio(ratio))),
        change(each.waiting),
        `${each.worst.page}: ${showRatio(each.worst.ratio)}`,
        change(each.processor),
        PROCESS_KINDS.map((kind) => change(1 + each.processorAdded[kind])).join(' '),
        showUpkeep(each.memory, 'MB'),
        showUpkeep(each.rest, 'ms'),
        `${each.disturbed} of ${each.visits}`,
      ]),
    ];
    return `${arm}: ${ARMS[arm].says}\n${table(rows, { numbers: true })}\n\n${showByVisit(own.at(-1)!)}\n`;
  });
  return [
    `Load times in real ${BROWSERS[browser]} against those of the browser alone (geometric means, 95% intervals over pages), visited in turns`,
    'with the same losses. Where that was measured twice (off-again), against the geometric mean of both at each visit; off-again itself against the first.',
    'Memory after each visit, and the processor time of a minute after the last one, in which no page is open: those of the browser alone, of the arm, and in it of the extension and the helper.',
    `The cache is ${usesCache ? 'on' : 'off'}, connections are closed between visits, Alt-Svc is kept.`,
    '',
    ...sections,
  ].join('\n');
}

/** Means beside the browser alone, and what of them is of the extension and the helper. */
function showUpkeep(upkeep: Upkeep | null, unit: string): string {
  if (upkeep === null) return '–';
  const [offTotal, total, own] = [upkeep.offTotal, upkeep.total, upkeep.own].map(Math.round);
  return `${offTotal} → ${total} ${unit} (own ${own})`;
}

/** Each visit of an arm, over all of its networks. */
function showByVisit({ byVisit }: ArmFigures): string {
  const rows = byVisit.map(({ visit, ratio, processor, ownProcessorMs }) => [
    `${visit}`,
    showRatio(ratio),
    change(processor),
    `${Math.round(ownProcessorMs)} ms`,
  ]);
  return table([['visit', 'load time', 'processor time', 'of extension and helper, a load'], ...rows], {
    numbers: true,
  });
}
