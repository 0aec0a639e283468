import { printable, table } from '@hopwise/contract/terminal';
import type { Judgement, PageCheck } from '@hopwise/pageload-emulator';
import { ms, number } from './show.ts';

/** A page on one network beside its limits. */
export interface CheckRow extends Omit<PageCheck, 'prediction'> {
  file: string;
  /** The file's short name. */
  name: string;
  network: string;
  judgements: Judgement[];
}

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

const breachesOf = (rows: readonly CheckRow[]): { row: CheckRow; judgement: Judgement }[] =>
  rows.flatMap((row) =>
    row.judgements.filter(({ isBreach }) => isBreach).map((judgement) => ({ row, judgement })),
  );

/** The figures, then a line for each breach. */
export function showCheck(rows: readonly CheckRow[]): string {
  return [
    table([
      ['page', 'network', '>load time', '>low', '>high', '>first paint', '>on best', '>gain left'],
      ...cells(rows),
    ]),
    '',
    ...breachesOf(rows).map(
      ({ row, judgement }) => `${row.name} on ${printable(row.network)}: ${showJudgement(judgement)}`,
    ),
    summaryOf(rows),
  ].join('\n');
}

/** The figures as a Markdown table, then a list of breaches. */
export function markdownCheck(rows: readonly CheckRow[]): string {
  const line = (each: readonly string[]) => `| ${each.join(' | ')} |`;
  return `${[
    line(['page', 'network', 'load time', 'low', 'high', 'first paint', 'on best', 'gain left']),
    line(['---', '---', ...Array.from({ length: 6 }, () => '---:')]),
    ...cells(rows).map((row) => line(row.map(markdownText))),
    '',
    ...breachesOf(rows).map(
      ({ row, judgement }) =>
        `- **${markdownText(row.name)}** on ${markdownText(printable(row.network))}: ${showJudgement(judgement)}`,
    ),
    ...(breachesOf(rows).length > 0 ? [''] : []),
    summaryOf(rows),
  ].join('\n')}\n`;
}

function cells(rows: readonly CheckRow[]): string[][] {
  return rows.map(({ name, network, loadTimeMs, range, firstPaintMs, originsOnBest, gainLeft }) => [
    name,
    printable(network),
    ms(loadTimeMs),
    ms(range.low),
    ms(range.high),
    firstPaintMs === null ? '–' : ms(firstPaintMs),
    percent(originsOnBest),
    percent(gainLeft),
  ]);
}

function summaryOf(rows: readonly CheckRow[]): string {
  const limits = rows.reduce((sum, { judgements }) => sum + judgements.length, 0);
  const breaches = breachesOf(rows).length;
  return breaches === 0
    ? `Within the budget: ${limits} of ${limits} limits.`
    : `Over the budget: ${breaches} of ${limits} limits.`;
}

/** Text without what Markdown or HTML would read as markup. */
const markdownText = (text: string): string => text.replace(/[\\`*_[\]<>|#&~]/g, '\\$&');
