import { counted, printable, table } from '@hopwise/contract/terminal';
import type { Judgement, PageCheck } from '@hopwise/pageload-emulator';
import type { CheckBaseline, CheckChange } from './check-baseline.ts';
import { paint } from './output.ts';
import { ms, number } from './show.ts';

/** A page on one network beside its limits. */
export interface CheckRow extends Omit<PageCheck, 'prediction'> {
  file: string;
  /** The file's short name. */
  name: string;
  network: string;
  /** How many the page makes. */
  requests: number;
  /** What they transfer. */
  bytes: number;
  judgements: Judgement[];
  /** Why the recorded load is not understood, so that the figures may be wrong; null where it is. */
  misunderstood: string | null;
  /** Limits that were not judged, as the recording does not show their figures. */
  unjudged: Judgement['figure'][];
  /** What changed since the baseline; null without one. */
  change: CheckChange | null;
}

/** Whether a page is over a limit, or slower than it was by more than the noise. */
export const isFailed = ({ judgements, change }: CheckRow): boolean =>
  judgements.some(({ isBreach }) => isBreach) || change?.verdict === 'slower';

const percent = (share: number): string => `${number(share * 100)}%`;

interface ShownFigure {
  title: string;
  show: (value: number) => string;
  /** From the figure's own unit to the one that is shown. */
  factor: number;
  unit: string;
}
const DURATION = { show: ms, factor: 1, unit: ' ms' };
const SHARE = { show: percent, factor: 100, unit: '%' };
const FIGURES: Record<Judgement['figure'], ShownFigure> = {
  loadTimeMs: { title: 'load time', ...DURATION },
  firstPaintMs: { title: 'first paint', ...DURATION },
  largestPaintMs: { title: 'largest paint', ...DURATION },
  originsOnBest: { title: 'origins on their best protocol', ...SHARE },
  gainLeft: { title: 'gain left', ...SHARE },
};

/** `load time: 4100 ms, at most 4000 ms`. */
export function showJudgement({ figure, value, limit }: Judgement): string {
  const { title } = FIGURES[figure];
  const [shownValue, shownLimit] = shownApart(figure, value, limit);
  return `${title}: ${shownValue}, ${figure === 'originsOnBest' ? 'at least' : 'at most'} ${shownLimit}`;
}

/** Decimal places that are tried to distinguish a value from its limit. */
const MAX_DECIMALS = 6;

/** Value and limit, in as many decimal places as it takes that a breach does not look like equality. */
function shownApart(figure: keyof typeof FIGURES, value: number, limit: number): [string, string] {
  const { show, factor, unit } = FIGURES[figure];
  let shown: [string, string] = [show(value), show(limit)];
  for (let decimals = 1; decimals <= MAX_DECIMALS && value !== limit && shown[0] === shown[1]; decimals++) {
    const exact = (each: number) => `${(each * factor).toFixed(decimals)}${unit}`;
    shown = [exact(value), exact(limit)];
  }
  return shown;
}

const signedPercent = (share: number): string =>
  `${share < 0 ? '−' : share > 0 ? '+' : ''}${percent(Math.abs(share))}`;

/** `load time: 4100 ms, 3600 ms before: +14%, noise 8%: slower`. */
export const showChange = (loadTimeMs: number, { beforeMs, growth, noise, verdict }: CheckChange): string =>
  `load time: ${ms(loadTimeMs)}, ${ms(beforeMs)} before: ${signedPercent(growth)}, noise ${percent(noise)}: ${verdict}`;

/** What fails of a row, a sentence each. */
const failuresOf = ({ judgements, loadTimeMs, change }: CheckRow): string[] => [
  ...judgements.filter(({ isBreach }) => isBreach).map(showJudgement),
  ...(change?.verdict === 'slower' ? [showChange(loadTimeMs, change)] : []),
];

const TITLES = ['load time', 'low', 'high', 'first paint', 'largest paint', 'on best', 'gain left'];
/** What is added where there is a baseline. */
const CHANGE_TITLES = ['before', 'change', 'noise', 'verdict'];

const titlesOf = (rows: readonly CheckRow[]): string[] => [
  ...TITLES,
  ...(hasBaseline(rows) ? CHANGE_TITLES : []),
];
const hasBaseline = (rows: readonly CheckRow[]): boolean => rows.some(({ change }) => change !== null);

/**
 * The figures, then a line for each breach, for each page whose load is not understood or that is another than in the baseline, and for
 * each limit that was not judged.
 *
 * @param gone what the baseline has beside these rows
 */
export function showCheck(rows: readonly CheckRow[], gone: CheckBaseline = []): string {
  const failures = rows.flatMap((row) =>
    failuresOf(row).map((failure) => paint('red', `${row.name} on ${printable(row.network)}: ${failure}`)),
  );
  const right = titlesOf(rows).map((title) => (title === 'verdict' ? title : `>${title}`));
  return [
    table([['page', 'network', ...right], ...cells(rows)]),
    '',
    ...failures,
    ...notesOf(rows, gone),
    isJudged(rows) ? paint(failures.length > 0 ? 'red' : 'green', summaryOf(rows)) : NOTHING_JUDGED,
  ].join('\n');
}

/** Which pages' loads are not understood, how pages differ from the baseline, which limits were not judged, and what is missing. */
function notesOf(rows: readonly CheckRow[], gone: CheckBaseline): string[] {
  const doubts = rows.flatMap(({ name, misunderstood }) =>
    misunderstood === null
      ? []
      : [
          printable(
            `${name}: its load is not understood, so that the figures may be wrong: ${misunderstood}`,
            300,
          ),
        ],
  );
  const changes = rows.flatMap((row) => {
    const change = contentChange(row);
    return change === null ? [] : [`${row.name}: ${change}`];
  });
  const unjudged = rows.flatMap(({ name, unjudged }) =>
    unjudged.map((figure) => `${name}: ${FIGURES[figure].title}: not judged, as the recording shows none`),
  );
  const missing = gone.map(
    ({ file, network }) =>
      `${printable(file, MAX_NAME)} on ${printable(network)}: in the baseline, not in this check`,
  );
  const left = missing.length - MAX_MISSING;
  return [
    ...new Set([...doubts, ...changes, ...unjudged]),
    ...missing.slice(0, MAX_MISSING),
    ...(left > 0 ? [`${left} more in the baseline, not in this check`] : []),
  ];
}

/** Characters of a file's name in a note. */
const MAX_NAME = 200;
/** Rows of the baseline that notes name. */
const MAX_MISSING = 5;

/** `92 requests, 70 before; 1800 kB, 1206 kB before`; null where neither changed. */
function contentChange({ requests, bytes, change }: CheckRow): string | null {
  const { beforeRequests, beforeBytes } = change ?? { beforeRequests: null, beforeBytes: null };
  const parts = [
    ...(beforeRequests === null || beforeRequests === requests
      ? []
      : [`${counted(requests, 'request')}, ${beforeRequests} before`]),
    ...(beforeBytes === null || kilobytes(beforeBytes) === kilobytes(bytes)
      ? []
      : [`${kilobytes(bytes)}, ${kilobytes(beforeBytes)} before`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

/** The figures as a Markdown table, then a list of breaches. */
export function markdownCheck(rows: readonly CheckRow[], gone: CheckBaseline = []): string {
  const line = (each: readonly string[]) => `| ${each.join(' | ')} |`;
  const titles = titlesOf(rows);
  const failures = rows.flatMap((row) =>
    failuresOf(row).map(
      (failure) =>
        `- **${markdownText(row.name)}** on ${markdownText(printable(row.network))}: ${markdownText(failure)}`,
    ),
  );
  const notes = notesOf(rows, gone).map((note) => `- ${markdownText(note)}`);
  return `${[
    line(['page', 'network', ...titles]),
    line(['---', '---', ...titles.map(() => '---:')]),
    ...cells(rows).map((row) => line(row.map(markdownText))),
    '',
    ...failures,
    ...notes,
    ...(failures.length + notes.length > 0 ? [''] : []),
    summaryOf(rows),
  ].join('\n')}\n`;
}

/** Breaches as annotations of GitHub Actions, and limits that were not judged as notices, a line each. */
export function githubCheck(rows: readonly CheckRow[]): string {
  const lines = rows.flatMap((row) => [
    ...failuresOf(row).map((failure) => workflowCommand('error', row, failure)),
    ...row.unjudged.map((figure) =>
      workflowCommand('notice', row, `${FIGURES[figure].title}: not judged, as the recording shows none`),
    ),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

/** @see https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands */
function workflowCommand(kind: 'error' | 'notice', { file, network }: CheckRow, message: string): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const title = `hopwise check on ${printable(network)}`;
  return `::${kind} file=${property(file)},title=${property(title)}::${data(message)}`;
}

function cells(rows: readonly CheckRow[]): string[][] {
  const withBaseline = hasBaseline(rows);
  const paintCell = (value: number | null) => (value === null ? '–' : ms(value));
  return rows.map((row) => [
    row.name,
    printable(row.network),
    ms(row.loadTimeMs),
    ms(row.range.low),
    ms(row.range.high),
    paintCell(row.firstPaintMs),
    paintCell(row.largestPaintMs),
    percent(row.originsOnBest),
    percent(row.gainLeft),
    ...(withBaseline ? changeCells(row.change) : []),
  ]);
}

const changeCells = (change: CheckChange | null): string[] =>
  change === null
    ? ['–', '–', '–', 'new']
    : [ms(change.beforeMs), signedPercent(change.growth), percent(change.noise), change.verdict];

/** Whether there is a limit or a baseline for any row. */
const isJudged = (rows: readonly CheckRow[]): boolean =>
  rows.some(({ judgements, unjudged, change }) => judgements.length + unjudged.length > 0 || change !== null);

const NOTHING_JUDGED = 'Nothing was judged: neither --budget nor --baseline was given.';

function summaryOf(rows: readonly CheckRow[]): string {
  const limits = rows.reduce((sum, { judgements }) => sum + judgements.length, 0);
  const breaches = rows.flatMap(({ judgements }) => judgements.filter(({ isBreach }) => isBreach)).length;
  const unjudged = rows.reduce((sum, row) => sum + row.unjudged.length, 0);
  const skipped = unjudged === 0 ? '' : `, ${unjudged} not judged`;
  const compared = rows.filter(({ change }) => change !== null);
  const slower = compared.filter(({ change }) => change!.verdict === 'slower').length;
  return [
    ...(limits + unjudged === 0
      ? []
      : limits === 0
        ? ['No limit of the budget could be judged.']
        : [
            breaches === 0
              ? `Within the budget: ${limits} of ${limits} limits${skipped}.`
              : `Over the budget: ${breaches} of ${limits} limits${skipped}.`,
          ]),
    ...(compared.length === 0
      ? []
      : [`Slower than the baseline by more than the noise: ${slower} of ${compared.length}.`]),
  ].join(' ');
}

/** Text without what Markdown or HTML would read as markup. */
const markdownText = (text: string): string => text.replace(/[\\`*_[\]<>|#&~]/g, '\\$&');
