/** The summary of a folder as one HTML file that needs nothing else and runs no script. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { duration, networkText, PROTOCOL_NAME } from '../report/words.ts';
import type { GroundTruthMatrix } from './ground-truth.ts';
import { LOAD_PROTOCOL_NAME, LOAD_PROTOCOLS, percent } from './names.ts';
import type { CellSummary, GroundTruthSummary, SeriesSummary, Unavailable } from './summary.ts';
import type { Chart } from './summary-charts.ts';

/** Colours and type of everything that hopwise shows. */
export const themeCss = (): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve('@hopwise/extension/theme.css'), 'utf8');

const STYLE = `
main { display: grid; gap: 16px; max-width: 1160px; margin: 0 auto; padding: 28px 24px 40px; }
h1 { font-size: 20px; }
.card { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--hw-muted); text-align: left; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--hw-line); vertical-align: top; }
td small { display: block; font-weight: 400; color: var(--hw-muted); white-space: nowrap; }
.cells td:first-child, .cells td:nth-child(2) { white-space: nowrap; }
svg { display: block; max-width: 100%; height: auto; color: var(--hw-text); }
.legend { display: flex; flex-wrap: wrap; gap: 16px; padding: 0; margin: 0 0 8px; list-style: none; font-size: 13px; }
.legend span { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 5px; }
.h1 { background: var(--hw-h1); } .h2 { background: var(--hw-h2); } .h3 { background: var(--hw-h3); }
.natural { background: var(--hw-unknown); } .assigned { background: var(--hw-load); }
.best { font-weight: 600; }
`;

export async function renderSummaryHtml(
  summary: GroundTruthSummary,
  matrix: GroundTruthMatrix,
  charts: Chart[],
): Promise<string> {
  const protocols = LOAD_PROTOCOLS.filter((protocol) =>
    summary.cells.some(
      (cell) => cell.protocols[protocol] !== undefined || cell.unavailable[protocol] !== undefined,
    ),
  );
  const legend = `<ul class="legend">${protocols
    .map((protocol) => `<li><span class="${protocol}"></span>${LOAD_PROTOCOL_NAME[protocol]}</li>`)
    .join('')}</ul>`;
  const { server, machine, browser } = matrix;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hopwise: ground truth</title>
<style>${await themeCss()}${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Ground truth: page load time by protocol</h1>
<p class="hw-muted">${escapeHtml(
    `${summary.loads.kept} loads in ${browser}; TCP ${server.congestionControl} with an initial window of ${server.initialWindow}, ` +
      `priorities ${server.priorities}; ${machine.cores} × ${machine.cpu}, Linux ${machine.kernel}`,
  )}</p>
</header>
${card('In all', overall(summary))}
${charts.map(({ title, svg }) => card(title, legend + svg)).join('\n')}
${card('Each page on each network', cellTable(summary.cells, protocols))}
${card('Networks', networkTable(matrix))}
</main>
</body>
</html>
`;
}

const card = (title: string, content: string): string =>
  `<section class="hw-card card"><h3>${escapeHtml(title)}</h3>${content}</section>`;

function overall({ loads, wins, rules, noiseFloor, quietSpread }: GroundTruthSummary): string {
  const winRows = PROTOCOLS.map((protocol) => {
    const { cells, decided, medianMargin } = wins[protocol];
    return [PROTOCOL_NAME[protocol], cells, decided, medianMargin === null ? '–' : percent(medianMargin)];
  });
  const ruleRows = rules.flatMap(({ rule, knows, cells, fallbacks, regret }) =>
    regret === null
      ? []
      : [
          [
            rule,
            percent(regret.mean),
            percent(regret.median),
            percent(regret.p95),
            percent(regret.max),
            fallbacks > 0 ? `${cells}, of which ${fallbacks} unreachable` : cells,
            knows,
          ],
        ],
  );
  const notes = [
    `${loads.dropped} disturbed loads were dropped and made again; ${loads.disturbed} were kept although disturbed and are in no figure; ${loads.failed} failed; ${loads.unproved} were not proved to be on their protocol; ${loads.incomplete} had a request that failed.`,
    'Regret is the median load time over that of the page’s fastest protocol on the network, less 1. Where a rule’s protocol cannot reach the page, the browser’s own choice is taken.',
    noiseFloor.regret
      ? `Noise floor: choosing by half of the loads, judged by the other half, costs ${percent(noiseFloor.regret.mean)} in the mean and ${percent(noiseFloor.regret.p95)} at p95 (${noiseFloor.cells} cells).`
      : '',
    quietSpread.median !== null && quietSpread.p90 !== null
      ? `Spread of loads where nothing is lost: a coefficient of variation of ${percent(quietSpread.median)} in the median, ${percent(quietSpread.p90)} at p90 (${quietSpread.series} series).`
      : '',
  ];
  return [
    htmlTable(['fastest', 'cells', 'decided', 'by, in the median'], winRows),
    '<br>',
    htmlTable(['regret of', 'mean', 'median', 'p95', 'worst', 'cells', 'knows'], ruleRows),
    ...notes.filter((note) => note !== '').map((note) => `<p class="hw-note">${escapeHtml(note)}</p>`),
  ].join('');
}

function htmlTable(header: string[], rows: (string | number)[][]): string {
  const head = header.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const body = rows
    .map((row) => `<tr>${row.map((text) => `<td>${escapeHtml(String(text))}</td>`).join('')}</tr>`)
    .join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function cellTable(cells: CellSummary[], protocols: typeof LOAD_PROTOCOLS): string {
  const head = ['page', 'network', ...protocols.map((protocol) => LOAD_PROTOCOL_NAME[protocol]), 'fastest']
    .map((text) => `<th scope="col">${escapeHtml(text)}</th>`)
    .join('');
  const body = cells
    .map((cell) => {
      const columns = protocols.map((protocol) =>
        seriesCell(cell.protocols[protocol], cell.unavailable[protocol], cell.best === protocol),
      );
      const network = cell.view === 'warm' ? `${cell.network}, repeat view` : cell.network;
      return `<tr><td>${escapeHtml(cell.page)}</td><td>${escapeHtml(network)}</td>${columns.join('')}<td>${escapeHtml(verdict(cell))}</td></tr>`;
    })
    .join('');
  return `<table class="cells"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function seriesCell(
  series: SeriesSummary | undefined,
  unavailable: Unavailable | undefined,
  isBest: boolean,
): string {
  if (!series) {
    return unavailable === undefined
      ? '<td>–</td>'
      : `<td title="${escapeHtml(unavailable.reason)}">${unavailable.kind}</td>`;
  }
  const { medianMs, medianLowMs, medianHighMs, cv, loads } = series;
  const spread = cv === null ? '' : `, CV ${percent(cv)}`;
  return `<td${isBest ? ' class="best"' : ''}>${duration(medianMs)}<small>${duration(medianLowMs)} – ${duration(medianHighMs)}${spread}, n ${loads}</small></td>`;
}

function verdict({ best, margin, agreement, decided }: CellSummary): string {
  if (best === null || margin === null || agreement === null) return '–';
  const by = `${PROTOCOL_NAME[best]} by ${percent(margin)}`;
  return decided ? by : `undecided (${by} in ${Math.round(100 * agreement)}% of bootstraps)`;
}

function networkTable({ networks }: GroundTruthMatrix): string {
  return htmlTable(
    ['network', 'title', 'figures'],
    Object.entries(networks).map(([name, { title, network }]) => [
      name,
      title,
      networkText({
        ...network,
        udp: typeof network.udp === 'string' ? network.udp : network.udp.policedMbps,
      }),
    ]),
  );
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
