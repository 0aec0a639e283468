/** `ReadingFigures` as text. */

import { table, wrap } from '@hopwise/contract/terminal';
import { RULE_NAMES, RULES } from '@hopwise/lab/judge/rules';
import { NONE, percent } from '@hopwise/lab/output/names';
import type { Errors, ReadingFigures, ReadingRegret, ReadingShare } from './reading-figures.ts';
import { FROM } from './reading-figures.ts';
import { RECORDERS } from './recorders.ts';
import { FIGURE_NAMES, MODES, type Mode, PREDICTION_MODES } from './score-cell.ts';

/** Width of the text in columns. */
const WIDTH = 120;

const MODE_NAMES: Record<Mode, string> = {
  true: 'all known',
  given: 'network given',
  udp: 'one load and UDP known',
  estimated: 'one load only',
};

/** Tables of what is read out of recordings, each row with what is wanted of it. */
export function renderReadings(figures: ReadingFigures): string {
  const { graph, reproduction, invariance, noise } = figures;
  const rows: string[][] = [['Read out of recordings', 'share', 'of', 'wanted']];
  const row = (name: string, share: ReadingShare | null | undefined, wanted: string) => {
    if (share) rows.push([name, percent(share.share), String(share.of), wanted]);
  };
  if (graph) {
    row('true parent among the dependencies', graph.recall, '95%');
    row('  found in markup', graph.recallBy.markup, '');
    row('  asked for by a stylesheet', graph.recallBy.style, '');
    row('  made by a script', graph.recallBy.script, '');
    row('  made after the answer to a fetch', graph.recallBy.answer, '');
    row('dependencies that are true', graph.precision, '95%');
    row('server times within 20% or 10 ms', graph.thinkTimes, '90%');
    row('extra round trips within 20% or 10 ms', graph.extraRtts, '90%');
  }
  if (reproduction) {
    const of = reproduction.loads;
    row('recorded PLT predicted within 5%, no loss', { of, share: reproduction.pltWithin5 }, '90%');
    row('  starts within 10% or 30 ms', { of, share: reproduction.startsClose }, '90%');
    row('  first bytes within 10% or 30 ms', { of, share: reproduction.firstBytesClose }, '90%');
  }
  row('two recordings of a page agree within 10% on a third network', invariance, '90%');
  for (const recorder of RECORDERS) {
    row(`same dependencies as written by ${recorder}`, figures.recorders[recorder]?.edges, '100%');
    row('  predictions within 2%', figures.recorders[recorder]?.agree, '100%');
  }
  for (const name of FIGURE_NAMES)
    row(`${name} within its 80% range, one load only`, figures.networkRanges[name], '75 to 85%');
  for (const mode of PREDICTION_MODES)
    row(`loads within their 80% ranges, ${MODE_NAMES[mode]}`, figures.ranges[mode], '75 to 85%');
  return [
    wrap(
      `${figures.recordings} recordings of ${figures.pages} pages in ${figures.cells} cells. Loads of one protocol in a cell vary by ${percent(noise.spread.lossless)} (median coefficient of variation) without random loss, by ${percent(noise.spread.lossy)} with it.`,
      WIDTH,
    ).join('\n'),
    lines(rows),
    lines(errorRows(figures)),
    lines(regretRows(figures)),
  ].join('\n\n');
}

const lines = (rows: readonly (readonly string[])[]): string => table(rows, { numbers: true });

function errorRows({ cross }: ReadingFigures): string[][] {
  const cells = (errors: Errors | undefined) =>
    errors
      ? [percent(errors.median), percent(errors.p90), percent(errors.bias), String(errors.predictions)]
      : [NONE, NONE, NONE, NONE];
  return [
    [
      'Error of PLT from a recording under',
      'median',
      'p90',
      'bias',
      'of',
      'policed: median',
      'p90',
      'bias',
      'of',
    ],
    ...MODES.flatMap((mode) =>
      FROM.filter((from) => cross[mode].other?.[from] || cross[mode].policed?.[from]).map((from) => [
        `${from}, ${MODE_NAMES[mode]}`,
        ...cells(cross[mode].other?.[from]),
        ...cells(cross[mode].policed?.[from]),
      ]),
    ),
  ];
}

function regretRows({ regret, decisionRegret, ruleRegret, rules, noise }: ReadingFigures): string[][] {
  const cells = ({ mean, interval, perSeed, cells }: ReadingRegret) => [
    percent(mean),
    interval ? `${percent(interval.low)}–${percent(interval.high)}` : NONE,
    percent(perSeed),
    String(cells),
  ];
  return [
    ['Regret of the choice from a recording under', 'mean', '95%', 'on one seed', 'cells'],
    ...MODES.flatMap((mode) =>
      FROM.flatMap((from) => {
        const own = regret[mode][from];
        return own ? [[`${from}, ${MODE_NAMES[mode]}`, ...cells(own)]] : [];
      }),
    ),
    ...PREDICTION_MODES.flatMap((mode) =>
      FROM.flatMap((from) => {
        const own = decisionRegret[mode][from];
        return own ? [[`decision: ${from}, ${MODE_NAMES[mode]}`, ...cells(own)]] : [];
      }),
    ),
    ...FROM.flatMap((from) => {
      const own = ruleRegret[from];
      return own ? [[`${RULE_NAMES.h3UnlessHindered.name}, seeds of ${from}`, ...cells(own)]] : [];
    }),
    ...RULES.flatMap((rule) => {
      const own = rules[rule];
      return own ? [[RULE_NAMES[rule].name, ...cells(own)]] : [];
    }),
    ['noise floor: chosen by the other seeds', '', '', percent(noise.floor), ''],
  ];
}
