/** `accuracy.json` as text of at most 120 columns. */

import { table, wrap } from '@hopwise/contract/terminal';
import { CLEAR_LEAD, DECIDED_AGREEMENT, DECIDED_SEEDS } from '@hopwise/lab/judge/cell-ground-truth';
import { NONE, percent } from '@hopwise/lab/output/names';
import type { ConfidenceInterval } from '@hopwise/lab/statistics';
import { FALLBACK_NOTE, leftOutText } from '@hopwise/lab/summary/words';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import type { Accuracy } from './accuracy.ts';
import type { AssignedScore } from './assigned.ts';
import { CHOOSER_NAMES, CHOOSERS, type Chooser, DECISION_MODES } from './choosers.ts';
import { EARLIER_LOADS } from './earlier-loads.ts';
import type { ChooserFigures, Figures, Share } from './figures.ts';
import { PREDICTOR_NAMES, PREDICTORS, type Predictor } from './guess.ts';
import { TUNING_GROUPS, TUNING_NAMES, TUNING_NOTE } from './tuning.ts';

/** Width of a table in columns. */
const WIDTH = 120;

const points = (fraction: number | null) => (fraction === null ? NONE : (100 * fraction).toFixed(1));
const plain = (value: number | null, digits = 2) => (value === null ? NONE : value.toFixed(digits));
const range = (interval: ConfidenceInterval | null | undefined, digits = 1) =>
  interval ? `${(100 * interval.low).toFixed(digits)}–${(100 * interval.high).toFixed(digits)}` : NONE;
const columns = (rows: readonly (readonly string[])[]) => table(rows, { numbers: true }).split('\n');
const wrapped = (text: string) => wrap(text, WIDTH);
const each = <T>(of: (protocol: Protocol) => T): T[] => PROTOCOLS.map(of);

/** All tables of a run. */
export function renderAccuracy(accuracy: Accuracy): string {
  const sections = [
    heading(accuracy),
    predictedTimes(accuracy),
    ranks(accuracy),
    choices(accuracy),
    decisions(accuracy),
    experience(accuracy),
    tuning(accuracy),
    groupErrors('Network', accuracy.byNetwork),
    groupRegret('Network', accuracy.byNetwork),
    groupErrors('Page', accuracy.byPage),
    groupRegret('Page', accuracy.byPage),
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
  const { leftOut, recorded, server, warm } = measured;
  const sources = [
    ...(recorded.natural > 0 ? [`${recorded.natural} natural loads`] : []),
    ...(recorded.h2 > 0
      ? [`${recorded.h2} h2 loads, where no natural one was recorded, each judged by loads of other seeds`]
      : []),
  ];
  const unusable = measured.unusable.length > 0 ? ` Not judged: ${measured.unusable.join(', ')}.` : '';
  const repeat = warm > 0 ? ` and ${warm} repeat views` : '';
  return [
    `${measured.loads} loads of ${measured.pages.length} pages on ${measured.networks.length} networks (${measured.cells} cells, ${measured.decided} of them decided). ${measured.browser}; TCP ${server.congestionControl}, initial window ${server.initialWindow}, priorities ${server.priorities}.`,
    `Predicted from ${sources.join(' and ')}.`,
    `Left out: ${leftOutText(leftOut)}${repeat}.${unusable}`,
  ].flatMap(wrapped);
}

function predictedTimes({ figures, intervals, elapsedMs, lanternH3 }: Accuracy): string[] {
  const rows = [['Error of PLT', 'h1', 'h2', 'h3', 'p90 h1', 'h2', 'h3', 'h1/h2', 'h3/h2']];
  for (const predictor of PREDICTORS) {
    const own = figures.predictors[predictor];
    if (own === undefined) continue;
    rows.push([
      PREDICTOR_NAMES[predictor],
      ...each((protocol) => percent(own.error[protocol]?.median)),
      ...each((protocol) => percent(own.error[protocol]?.p90)),
      points(own.ratioError.h1),
      points(own.ratioError.h3),
    ]);
    const error = intervals[predictor]?.error;
    rows.push(['  95% interval', ...each((protocol) => range(error?.[protocol]))]);
  }
  const times = PREDICTORS.flatMap((predictor) =>
    elapsedMs[predictor] === undefined
      ? []
      : `${elapsedMs[predictor].toFixed(1)} ms (${PREDICTOR_NAMES[predictor]})`,
  );
  const other = lanternH3.as === 'h1' ? 'h2' : 'h1';
  return [
    ...columns(rows),
    ...wrapped(
      `One prediction takes ${times.join(', ')} in the median: 1 to 24 scenarios of each protocol, as many as the answer needs, and an assignment by origin by hopwise, one simulation of each protocol by Lantern, 32 trajectories of h1 and h2 by ECON.`,
    ),
    ...wrapped(
      `Lantern knows no h3. Its best configuration takes its ${lanternH3.as} for it (median error ${percent(lanternH3.error[lanternH3.as])}; its ${other}: ${percent(lanternH3.error[other])}).`,
    ),
  ];
}

function ranks({ figures }: Accuracy): string[] {
  const rows = [['Rank correlation', 'within networks h1', 'h2', 'h3', 'over all h1', 'h2', 'h3', 'order']];
  for (const predictor of PREDICTORS) {
    const own = figures.predictors[predictor];
    if (own === undefined) continue;
    rows.push([
      PREDICTOR_NAMES[predictor],
      ...each((protocol) => plain(own.spearmanWithin[protocol])),
      ...each((protocol) => plain(own.spearman[protocol])),
      plain(own.order),
    ]);
  }
  return columns(rows);
}

const ECON_NOTE =
  'ECON has no model of h3: its errors are of h1 and h2, its choice is the faster one of these two, and the regret is that of this choice against the best of all protocols.';

function choices({ figures, intervals }: Accuracy): string[] {
  const rows = [
    ['Choice', 'right', '95%', 'decided', 'mean regret', '95%', 'p95', 'no load', 'cells', 'on half'],
  ];
  for (const chooser of CHOOSERS) {
    const own = figures.choosers[chooser];
    if (own === undefined) continue;
    rows.push([
      CHOOSER_NAMES[chooser],
      percent(own.right?.share, 0),
      range(intervals[chooser]?.right, 0),
      percent(own.rightDecided?.share, 0),
      percent(own.regret.mean),
      range(intervals[chooser]?.regret),
      percent(own.regret.p95),
      own.notLoading === 0 ? NONE : String(own.notLoading),
      String(own.cells),
      percent(own.halfRegret),
    ]);
  }
  rows.push(['noise floor of halves', '', '', '', '', '', '', '', '', percent(figures.noiseFloor)]);
  return [...columns(rows), ...(figures.choosers.econ ? wrapped(ECON_NOTE) : [])];
}

/** The prior of the decision, and what these cells would give. */
function experience({ experience }: Accuracy): string[] {
  const rows = [
    ['Prior: log(PLT / PLT of h2)', 'at 50 ms', 'slope', 'deviation', 'used', 'deviation', 'cells'],
  ];
  for (const protocol of ['h1', 'h3'] as const) {
    const fit = experience[protocol];
    if (fit === null) continue;
    const { mean, slope, deviation, used, cells } = fit;
    const numbers = [mean, slope, deviation, used.mean, used.deviation].map((value) => plain(value));
    rows.push([`${protocol}, UDP open`, ...numbers, String(cells)]);
  }
  return rows.length === 1 ? [] : columns(rows);
}

/** What hopwise would do, by what it knows. */
function decisions({ figures }: Accuracy): string[] {
  const rows = [
    [
      ...['Decision', 'acts', 'unsure', 'decided', 'right', 'harmed', 'change', 'flips', 'baseline'],
      'decisions',
    ],
  ];
  const held = [['Ranges of decisions hold', 'natural loads', 'loads under protocols']];
  for (const mode of DECISION_MODES) {
    const own = figures.decisions[mode];
    if (own === undefined) continue;
    rows.push([
      CHOOSER_NAMES[mode],
      percent(own.acted, 0),
      percent(own.unsure, 0),
      percent(own.decidedOfClear, 0),
      percent(own.rightOfDecided, 0),
      percent(own.harmed, 0),
      percent(own.medianChange, 0),
      percent(own.flips, 0),
      percent(own.baselineError),
      String(own.decisions),
    ]);
    held.push([CHOOSER_NAMES[mode], percent(own.naturalHeld, 0), percent(own.protocolsHeld, 0)]);
  }
  if (rows.length === 1) return [];
  return [...columns(rows), '', ...columns(held), ...wrapped(DECISION_NOTE)];
}

const DECISION_NOTE =
  "Decided: of the cells whose fastest protocol leads by more than 5%, the share in which the decision is at least 80% sure of its best protocol; right: of these, the share in which that is the fastest or within 5% of it. Harmed: actions after which the page takes over 5% longer than by the browser itself; change: their median change of load time. Flips: cells whose loads give different answers. Baseline: median error of the browser's own behaviour. Ranges: the 80% ranges of a load to come, and loads by the browser itself and under each protocol, the recorded one left out.";

/** Headline figures of the pages that the emulator was tuned on and of all others. */
function tuning({ byTuning }: Accuracy): string[] {
  const groups = TUNING_GROUPS.map((group) => byTuning[group]);
  if (groups.every(({ cells }) => cells === 0)) return [];
  const row = (name: string, of: (figures: Figures) => string) => [name, ...groups.map(of)];
  const rows = [
    ['Pages', ...TUNING_GROUPS.map((group) => TUNING_NAMES[group])],
    row('cells', ({ cells }) => String(cells)),
  ];
  for (const predictor of PREDICTORS) {
    rows.push(
      row(`${PREDICTOR_NAMES[predictor]}: error h1 h2 h3, %`, (figures) => errors(figures, predictor)),
      row('  h1/h2 h3/h2, points', ({ predictors }) => {
        const ratios = predictors[predictor]?.ratioError;
        return ratios === undefined ? NONE : `${points(ratios.h1)} ${points(ratios.h3)}`;
      }),
      row('  loads within its ranges', ({ predictors }) =>
        percent(predictors[predictor]?.coverage?.loads, 0),
      ),
      row('  right', ({ choosers }) => shareText(choosers[predictor]?.right)),
      row('  mean regret', ({ choosers }) => percent(choosers[predictor]?.regret.mean)),
    );
  }
  for (const chooser of CHOOSERS) {
    if (PREDICTORS.some((predictor) => predictor === chooser)) continue;
    rows.push(
      row(`${CHOOSER_NAMES[chooser]}: mean regret`, ({ choosers }) =>
        percent(choosers[chooser]?.regret.mean),
      ),
    );
  }
  return [...columns(rows), ...wrapped(TUNING_NOTE)];
}

const shareText = (share: Share | null | undefined): string =>
  share ? `${percent(share.share, 0)} of ${share.cells}` : NONE;

const GROUP_CHOOSERS: Chooser[] = [...PREDICTORS, 'alwaysH1', 'alwaysH2', 'alwaysH3', 'natural'];
const SHORT_NAMES: Record<Chooser, string> = {
  hopwiseGiven: 'given',
  hopwiseUdp: 'UDP known',
  hopwiseEstimated: 'one load',
  hopwiseLearned: 'others before',
  lantern: 'Lantern',
  econ: 'ECON',
  decisionGiven: 'decision given',
  decisionUdp: 'decision UDP',
  decisionEstimated: 'decision one load',
  decisionLearned: 'decision others before',
  alwaysH1: 'h1',
  alwaysH2: 'h2',
  alwaysH3: 'h3',
  h3UnlessHindered: 'h3 unless',
  experience: 'prior',
  natural: 'natural',
};

const groupErrors = (title: string, groups: Record<string, Figures>): string[] =>
  columns([
    [`${title}: error h1 h2 h3, %`, ...PREDICTORS.map((predictor) => SHORT_NAMES[predictor])],
    ...Object.entries(groups).map(([name, figures]) => [
      shortened(name),
      ...PREDICTORS.map((predictor) => errors(figures, predictor)),
    ]),
  ]);

const groupRegret = (title: string, groups: Record<string, Figures>): string[] =>
  columns([
    [`${title}: mean regret`, ...GROUP_CHOOSERS.map((chooser) => SHORT_NAMES[chooser])],
    ...Object.entries(groups).map(([name, figures]) => [
      shortened(name),
      ...GROUP_CHOOSERS.map((chooser) => regretCell(figures.choosers[chooser])),
    ]),
  ]);

const shortened = (name: string, most = 24): string =>
  name.length > most ? `${name.slice(0, most - 1)}…` : name;

/** Whole percents of h1, h2 and h3. */
function errors(figures: Figures, predictor: Predictor): string {
  const error = figures.predictors[predictor]?.error;
  if (error === undefined) return NONE;
  return each((protocol) =>
    error[protocol] === null ? NONE : (100 * error[protocol].median).toFixed(0),
  ).join(' ');
}

/** Marked with an asterisk where the choice does not load the page in some cell. */
function regretCell(figures: ChooserFigures | undefined): string {
  if (figures === undefined) return NONE;
  return `${percent(figures.regret.mean)}${figures.notLoading > 0 ? '*' : ''}`;
}

function calibration({ calibration, figures }: Accuracy): string[] {
  const lines: string[] = [];
  for (const predictor of PREDICTORS) {
    const own = calibration[predictor];
    if (own === undefined) continue;
    const rows = [
      ['Stated confidence', ...own.bins.map(({ from, to }) => `${from.toFixed(2)}–${to.toFixed(2)}`)],
      ['  mean', ...own.bins.map(({ stated }) => percent(stated, 0))],
      ['  wins', ...own.bins.map(({ wins }) => percent(wins, 0))],
      ['  predictions', ...own.bins.map(({ predictions }) => String(predictions))],
    ];
    const { decided } = own;
    const coverage = figures.predictors[predictor]?.coverage;
    lines.push(
      ...wrapped(
        `${PREDICTOR_NAMES[predictor]}: Brier score ${own.brier.toFixed(3)}, of which ${own.brierFloor.toFixed(3)} the loads' own scatter; called decided ${decided.predictions}, which win ${percent(decided.wins, 0)}; its ranges hold ${percent(coverage?.loads, 0)} of the loads (80% when calibrated) and ${percent(coverage?.medians, 0)} of the medians.`,
      ),
      ...columns(rows),
    );
  }
  return lines;
}

/** Rows at either end. */
const ASSIGNED_ROWS = 6;

function assigned({ assigned: { scores, leftOut } }: Accuracy): string[] {
  const out = [
    ...(leftOut.uniform > 0 ? [`${leftOut.uniform} that give every origin the same protocol`] : []),
    ...(leftOut.notLoading > 0 ? [`${leftOut.notLoading} that do not load the page`] : []),
    ...(leftOut.unpaired > 0 ? [`${leftOut.unpaired} without a seed that the best protocol has`] : []),
  ];
  const outText = out.length > 0 ? ` Left out: ${out.join(', ')}.` : '';
  if (scores.length === 0) return out.length > 0 ? wrapped(`Assigned by origin: none judged.${outText}`) : [];
  const sorted = scores.toSorted((a, b) => a.measuredRatio.estimate - b.measuredRatio.estimate);
  const shown =
    sorted.length <= 2 * ASSIGNED_ROWS
      ? sorted
      : [...sorted.slice(0, ASSIGNED_ROWS), null, ...sorted.slice(-ASSIGNED_ROWS)];
  const rows = [['Assigned by origin / best for all', 'measured', '95%', 'predicted', 'seeds']];
  for (const row of shown) {
    if (row === null) {
      rows.push([`… ${sorted.length - 2 * ASSIGNED_ROWS} between them in accuracy.json`, '', '', '', '']);
      continue;
    }
    const { page, network, measuredRatio, predictedRatio, seeds } = row;
    rows.push([
      `${shortened(page, 40)} on ${network}`,
      plain(measuredRatio.estimate),
      seeds > 1 ? assignedRange(measuredRatio) : NONE,
      plain(predictedRatio),
      String(seeds),
    ]);
  }
  const count = (of: (score: AssignedScore) => boolean) => scores.filter(of).length;
  const decided = (of: (ratio: ConfidenceInterval) => boolean) =>
    count(({ seeds, measuredRatio }) => seeds >= DECIDED_SEEDS && of(measuredRatio));
  return [
    ...columns(rows),
    ...wrapped(
      `Of ${scores.length} assignments ${count(({ measuredRatio: { estimate } }) => estimate < 1)} are faster than the best protocol for all, ${decided(({ high }) => high < 1)} with their whole interval of at least ${DECIDED_SEEDS} seeds; slower are ${count(({ measuredRatio: { estimate } }) => estimate > 1)}, ${decided(({ low }) => low > 1)} with their whole interval.${outText}`,
    ),
  ];
}

const assignedRange = ({ low, high }: ConfidenceInterval): string =>
  `${plain(low)}–${Number.isFinite(high) ? plain(high) : 'never'}`;

function notes({ figures, measured }: Accuracy): string[] {
  const shares = Object.values(figures.choosers).find(({ right }) => right !== null);
  const cells = (share: Share | null | undefined) => `${share?.cells ?? 0} cells`;
  const failing = Object.values(figures.choosers).some(({ notLoading }) => notLoading > 0);
  return [
    'Error: |predicted / measured median − 1|, its median over cells and recorded loads. h1/h2, h3/h2: median error of the ratio in percentage points.',
    'Network given: round trip, rates, random loss and its bursts, queue and what happens to UDP. The settings of the servers (congestion control, initial window, priorities) are not given: hopwise assumes its defaults.',
    ...(figures.predictors.hopwiseLearned
      ? [
          `Other loads before: also given what up to ${EARLIER_LOADS} loads, each of another page on the same network, showed about it: natural loads where any were recorded there, else one over h2 and two over h3.`,
        ]
      : []),
    'Rank correlation: Spearman over the pages of a network, its median over networks, and over all cells. Order: over the protocols of a cell.',
    `Right: where the best protocol leads by more than ${percent(CLEAR_LEAD, 0)} (${cells(shares?.right)}). Decided: and ${percent(DECIDED_AGREEMENT, 0)} of bootstraps over at least ${DECIDED_SEEDS} seeds agree (${cells(shares?.rightDecided)}).`,
    'Regret: time of the choice over that of the best protocol for all origins, less 1, over the seeds that all protocols have; the mean over a cell’s recorded loads, then over cells. On half: on random halves of the seeds; the noise floor of halves is an oracle that chose by the other halves.',
    'Confidence is compared with the share of bootstraps of the loads that the predicted best protocol wins.',
    ...(failing ? [`${FALLBACK_NOTE} By network and page an asterisk marks it.`] : []),
    `Intervals: 95%, from pages drawn with replacement with all of their cells (${measured.pages.length} pages); of assignments from seeds.`,
  ].flatMap(wrapped);
}
