/** The summary of a folder as text. */
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { table } from '../report/terminal.ts';
import { duration, PROTOCOL_NAME } from '../report/words.ts';
import { LOAD_PROTOCOL_NAME, LOAD_PROTOCOLS, percent } from './names.ts';
import type { CellSummary, GroundTruthSummary, SeriesSummary, Unavailable } from './summary.ts';

export function renderSummaryText(summary: GroundTruthSummary): string {
  const { cells } = summary;
  const protocols = LOAD_PROTOCOLS.filter((protocol) =>
    cells.some((cell) => cell.protocols[protocol] || cell.unavailable[protocol] !== undefined),
  );
  const views = new Set(cells.map(({ view }) => view));
  const header = [
    'page',
    'network',
    ...(views.size > 1 ? ['view'] : []),
    ...protocols.map((protocol) => LOAD_PROTOCOL_NAME[protocol]),
    'fastest',
  ];
  const rows = cells.map((cell) => [
    cell.page,
    cell.network,
    ...(views.size > 1 ? [cell.view] : []),
    ...protocols.map((protocol) => seriesText(cell.protocols[protocol], cell.unavailable[protocol])),
    verdict(cell),
  ]);
  return [
    table([header, ...rows]),
    '',
    'median (95% bootstrap interval of the median, spread); fastest: decided when 9 of 10 bootstraps agree',
    '',
    ...overallLines(summary),
    '',
  ].join('\n');
}

function seriesText(series: SeriesSummary | undefined, unavailable: Unavailable | undefined): string {
  if (!series) return unavailable?.kind ?? '–';
  const { medianMs, medianLowMs, medianHighMs, cv, loads } = series;
  const spread = cv === null ? '' : `, ${percent(cv)}`;
  return `${duration(medianMs)} (${duration(medianLowMs)} – ${duration(medianHighMs)}${spread}) n=${loads}`;
}

function verdict({ best, margin, agreement, decided }: CellSummary): string {
  if (best === null || margin === null || agreement === null) return '–';
  const by = `${PROTOCOL_NAME[best]} by ${percent(margin)}`;
  return decided ? by : `undecided: ${by}, ${Math.round(100 * agreement)}% of bootstraps`;
}

function overallLines({ loads, wins, rules, noiseFloor, quietSpread, cells }: GroundTruthSummary): string[] {
  const lines = [
    `${loads.kept} loads in ${cells.length} cells; ${loads.dropped} disturbed ones dropped and made again, ` +
      `${loads.disturbed} kept although disturbed and left out, ${loads.failed} failed, ` +
      `${loads.unproved} not proved to be on their protocol, ${loads.incomplete} with a request that failed`,
    '',
    table([
      ['fastest', 'cells', 'decided', 'by, in the median'],
      ...PROTOCOLS.map((protocol) => {
        const { cells: won, decided, medianMargin } = wins[protocol];
        return [
          PROTOCOL_NAME[protocol],
          String(won),
          String(decided),
          medianMargin === null ? '–' : percent(medianMargin),
        ];
      }),
    ]),
    '',
  ];
  const judged = rules.filter(({ regret }) => regret !== null);
  if (judged.length > 0) {
    const rows = judged.map(({ rule, knows, regret, cells: count, fallbacks }) => [
      rule,
      percent(regret!.mean),
      percent(regret!.median),
      percent(regret!.p95),
      percent(regret!.max),
      fallbacks > 0 ? `${count}, ${fallbacks} unreachable` : String(count),
      knows,
    ]);
    lines.push(table([['regret of', 'mean', 'median', 'p95', 'worst', 'cells', 'knows'], ...rows]), '');
  }
  if (noiseFloor.regret) {
    lines.push(
      `noise floor: choosing by half of a cell's loads and judged by the other half, ${percent(noiseFloor.regret.mean)} mean, ` +
        `${percent(noiseFloor.regret.p95)} p95 (${noiseFloor.cells} cells)`,
    );
  }
  const { median, p90, max, series } = quietSpread;
  if (median !== null && p90 !== null && max !== null) {
    lines.push(
      `spread where nothing is lost: CV ${percent(median)} median, ${percent(p90)} p90, ${percent(max)} worst (${series} series)`,
    );
  }
  return lines;
}
