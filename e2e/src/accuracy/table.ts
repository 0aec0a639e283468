/** `accuracy.json` as text of at most 120 columns. */
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import type { Accuracy } from './bench.ts';
import { CHOOSER_NAMES, CHOOSERS, type Chooser } from './choosers.ts';
import type { ChooserFigures, Figures, Interval, Share } from './figures.ts';
import { PREDICTOR_NAMES, PREDICTORS, type Predictor } from './guess.ts';
import { CLEAR_LEAD, DECIDED_AGREEMENT } from './scores.ts';

const NONE = '–';
/** Columns. */
const WIDTH = 120;

export function percent(fraction: number | null | undefined, digits = 1): string {
  return fraction === null || fraction === undefined ? NONE : `${(100 * fraction).toFixed(digits)}%`;
}

const points = (fraction: number | null) => (fraction === null ? NONE : (100 * fraction).toFixed(1));
const plain = (value: number | null, digits = 2) => (value === null ? NONE : value.toFixed(digits));
const range = (interval: Interval | undefined, digits = 1) =>
  interval ? `${(100 * interval[0]).toFixed(digits)}–${(100 * interval[1]).toFixed(digits)}` : NONE;

/** Columns as wide as their widest cell; the first to the left, the others to the right. */
export function columns(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, text.length);
  }
  return rows.map((row) =>
    row
      .map((text, index) => (index === 0 ? text.padEnd(widths[index]!) : text.padStart(widths[index]!)))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}

/** All tables of a run. */
export function renderAccuracy(accuracy: Accuracy): string {
  const sections = [
    heading(accuracy),
    predictedTimes(accuracy),
    choices(accuracy),
    groupTable('Network', accuracy.byNetwork),
    groupTable('Page', accuracy.byPage),
    calibration(accuracy),
    assigned(accuracy),
    notes(accuracy),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function heading({ measured }: Accuracy): string[] {
  const { leftOut, recorded, server } = measured;
  const out = [
    `${leftOut.failed} failed`,
    `${leftOut.unproved} not on their protocol`,
    `${leftOut.disturbed} disturbed`,
    `${leftOut.warm} repeat views`,
  ];
  const sources = [
    ...(recorded.natural > 0 ? [`${recorded.natural} natural loads`] : []),
    ...(recorded.h2 > 0 ? [`${recorded.h2} h2 loads, where no natural one was recorded`] : []),
  ];
  const unusable = measured.unusable.length > 0 ? ` Not judged: ${measured.unusable.join(', ')}.` : '';
  return [
    `${measured.loads} loads of ${measured.pages.length} pages on ${measured.networks.length} networks (${measured.cells} cells). ${measured.browser}; TCP ${server.congestionControl}, initial window ${server.initialWindow}, priorities ${server.priorities}.`,
    `Predicted from ${sources.join(' and ')}.`,
    `Left out: ${out.join(', ')}.${unusable}`,
  ].flatMap(wrapped);
}

function predictedTimes({ figures, intervals, elapsedMs }: Accuracy): string[] {
  const rows = [
    [
      'Error of PLT',
      'h1',
      'h2',
      'h3',
      'p90 h1',
      'h2',
      'h3',
      'rank h1',
      'h2',
      'h3',
      'order',
      'h1/h2',
      'h3/h2',
    ],
  ];
  for (const predictor of PREDICTORS) {
    const own = figures.predictors[predictor];
    if (own === undefined) continue;
    rows.push([
      PREDICTOR_NAMES[predictor],
      ...PROTOCOLS.map((protocol) => percent(own.error[protocol]?.median)),
      ...PROTOCOLS.map((protocol) => percent(own.error[protocol]?.p90)),
      ...PROTOCOLS.map((protocol) => plain(own.spearman[protocol])),
      plain(own.order),
      points(own.ratioError.h1),
      points(own.ratioError.h3),
    ]);
    const error = intervals[predictor]?.error;
    rows.push(['  95% interval', ...PROTOCOLS.map((protocol) => range(error?.[protocol]))]);
  }
  const times = PREDICTORS.flatMap((predictor) =>
    elapsedMs[predictor] === undefined
      ? []
      : `${elapsedMs[predictor].toFixed(1)} ms (${PREDICTOR_NAMES[predictor]})`,
  );
  return [
    ...columns(rows),
    ...wrapped(
      `One prediction takes ${times.join(', ')} in the median: twelve scenarios of each protocol and an assignment by origin by hopwise, one simulation of each protocol by Lantern.`,
    ),
  ];
}

function choices({ figures, intervals }: Accuracy): string[] {
  const rows = [
    ['Choice', 'right', '95%', 'right, decided', 'mean regret', '95%', 'p95', 'no load', 'judged on half'],
  ];
  for (const chooser of CHOOSERS) {
    const own = figures.choosers[chooser];
    if (own === undefined) continue;
    rows.push([
      CHOOSER_NAMES[chooser],
      percent(own.right?.share, 0),
      range(intervals[chooser]?.right, 0),
      percent(own.rightDecided?.share, 0),
      percent(own.regret?.mean),
      range(intervals[chooser]?.regret),
      percent(own.regret?.p95),
      own.notLoading === 0 ? NONE : String(own.notLoading),
      percent(own.halfRegret),
    ]);
  }
  rows.push(['best of the other half (noise)', '', '', '', '', '', '', '', percent(figures.noiseFloor)]);
  return columns(rows);
}

const GROUP_PREDICTORS: Predictor[] = ['hopwiseGiven', 'hopwiseEstimated', 'lantern'];
const GROUP_CHOOSERS: Chooser[] = [
  'hopwiseGiven',
  'hopwiseEstimated',
  'lantern',
  'alwaysH1',
  'alwaysH2',
  'alwaysH3',
  'natural',
];
const SHORT_NAMES: Record<Chooser, string> = {
  hopwiseGiven: 'given',
  hopwiseEstimated: 'one load',
  lantern: 'Lantern',
  alwaysH1: 'h1',
  alwaysH2: 'h2',
  alwaysH3: 'h3',
  h3UnlessHindered: 'h3 unless',
  natural: 'natural',
};

function groupTable(title: string, groups: Record<string, Figures>): string[] {
  const rows = [
    [
      title,
      ...GROUP_PREDICTORS.map(
        (predictor, index) => `${index === 0 ? 'error: ' : ''}${SHORT_NAMES[predictor]}`,
      ),
      ...GROUP_CHOOSERS.map((chooser, index) => `${index === 0 ? 'regret: ' : ''}${SHORT_NAMES[chooser]}`),
    ],
  ];
  for (const [name, figures] of Object.entries(groups)) {
    rows.push([
      name.length > 24 ? `${name.slice(0, 23)}…` : name,
      ...GROUP_PREDICTORS.map((predictor) => errors(figures, predictor)),
      ...GROUP_CHOOSERS.map((chooser) => regretCell(figures.choosers[chooser])),
    ]);
  }
  return columns(rows, 2);
}

/** Whole percents of h1, h2 and h3. */
function errors(figures: Figures, predictor: Predictor): string {
  const error = figures.predictors[predictor]?.error;
  if (error === undefined) return NONE;
  return PROTOCOLS.map((protocol) =>
    error[protocol] === null ? NONE : (100 * error[protocol].median).toFixed(0),
  ).join(' ');
}

function regretCell(figures: ChooserFigures | undefined): string {
  if (figures === undefined) return NONE;
  if (figures.regret === null) return figures.notLoading > 0 ? 'no load' : NONE;
  return percent(figures.regret.mean);
}

function calibration({ calibration }: Accuracy): string[] {
  const lines: string[] = [];
  for (const predictor of PREDICTORS) {
    const own = calibration[predictor];
    if (own === undefined) continue;
    const rows = [
      ['Stated confidence', ...own.bins.map(({ from, to }) => `${from.toFixed(2)}–${to.toFixed(2)}`)],
      ['  mean', ...own.bins.map(({ stated }) => percent(stated, 0))],
      ['  right', ...own.bins.map(({ right }) => percent(right, 0))],
      ['  predictions', ...own.bins.map(({ predictions }) => String(predictions))],
    ];
    const { decided, coverage } = own;
    lines.push(
      ...wrapped(
        `${PREDICTOR_NAMES[predictor]}: Brier score ${own.brier.toFixed(3)}; called decided ${decided.predictions}, right ${percent(decided.right, 0)}; its ranges hold ${percent(coverage.loads, 0)} of the loads (80% when calibrated) and ${percent(coverage.medians, 0)} of the medians.`,
      ),
      ...columns(rows),
    );
  }
  return lines;
}

const MOST_ASSIGNED = 12;

function assigned({ assigned }: Accuracy): string[] {
  if (assigned.length === 0) return [];
  const sorted = [...assigned].sort((a, b) => a.measuredRatio - b.measuredRatio);
  const rows = [['Assigned by origin / best for all', 'measured', 'predicted', 'loads']];
  for (const { page, network, measuredRatio, predictedRatio, loads } of sorted.slice(0, MOST_ASSIGNED)) {
    rows.push([`${page} on ${network}`, plain(measuredRatio), plain(predictedRatio), String(loads)]);
  }
  const faster = assigned.filter(({ measuredRatio }) => measuredRatio < 1).length;
  return [
    ...columns(rows),
    ...(sorted.length > MOST_ASSIGNED ? [`… ${sorted.length - MOST_ASSIGNED} more in accuracy.json`] : []),
    `Faster than the best protocol for all in ${faster} of ${assigned.length} cells.`,
  ];
}

function notes({ figures }: Accuracy): string[] {
  const shares = Object.values(figures.choosers).find(({ right }) => right !== null);
  const cells = (share: Share | null | undefined) => `${share?.cells ?? 0} cells`;
  const failing = Object.values(figures.choosers).some(({ notLoading }) => notLoading > 0);
  return [
    'Error: |predicted / measured median − 1|, its median over cells and recorded loads; by network and page in % for h1 h2 h3.',
    'Rank: Spearman over cells. Order: the same over the protocols of a cell. h1/h2, h3/h2: median error of the ratio in percentage points.',
    `Right: where the best protocol leads by more than ${percent(CLEAR_LEAD, 0)} (${cells(shares?.right)}). Decided: and ${percent(DECIDED_AGREEMENT, 0)} of bootstraps of the loads agree (${cells(shares?.rightDecided)}).`,
    'Regret: time of the choice over that of the best protocol for all origins, less 1. Judged on half: on random halves of the loads; the oracle chose by the other halves.',
    ...(failing
      ? [
          'No load: cells in which the choice does not load the page at all; that regret has no bound and is in no mean.',
        ]
      : []),
    'Lantern knows h1 and h2; an h3 request is an h1 request to it. Intervals: 95%, bootstrapped over cells.',
  ].flatMap(wrapped);
}

/** Breaks a sentence between words. */
function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
