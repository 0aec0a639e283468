/** The summary of a folder as one self-contained HTML file without scripts. */

import { udpNotation } from '@hopwise/pageload-emulator';
import { toNetworkPath } from '../client/networks.ts';
import type { GroundTruthMatrix } from '../ground-truth/ground-truth.ts';
import type { Missing } from '../judge/cell-loads.ts';
import type { Chart } from '../output/charts.ts';
import { escapeHtml } from '../output/escape-html.ts';
import { LOAD_PROTOCOL_NAME, LOAD_PROTOCOLS, NONE, percent } from '../output/names.ts';
import { staticPage } from '../output/static-page.ts';
import { duration, networkText } from '../output/words.ts';
import type { CellSummary, GroundTruthSummary, SeriesSummary, ViewSummary } from './summary.ts';
import { loadsText, ruleRows, VERDICT_NOTE, VIEW_NAMES, verdict, viewNotes, winRows } from './words.ts';

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
  return staticPage(
    'hopwise: ground truth',
    STYLE,
    `<header>
<h1>Ground truth: page load time by protocol</h1>
<p class="hw-muted">${escapeHtml(
      `${browser}; ${[server.tcp, server.quic].map((own) => own && `${own.stack}; `).join('')}TCP ${server.congestionControl} with an initial window of ${server.initialWindow}, ` +
        `priorities ${server.priorities}; ${machine.cores} × ${machine.cpu}, Linux ${machine.kernel}`,
    )}</p>
${note(loadsText(summary.loads))}
</header>
${Object.entries(summary.views)
  .map(([view, own]) =>
    card(`In all: ${VIEW_NAMES[view as keyof GroundTruthSummary['views']]}`, overall(own)),
  )
  .join('\n')}
${charts.map(({ title, svg }) => card(title, legend + svg)).join('\n')}
${card('Each page on each network', cellTable(summary.cells, protocols) + note(VERDICT_NOTE))}
${card('Networks', networkTable(matrix))}`,
  );
}

const card = (title: string, content: string): string =>
  `<section class="hw-card card"><h3>${escapeHtml(title)}</h3>${content}</section>`;

const note = (text: string): string => `<p class="hw-note">${escapeHtml(text)}</p>`;

function overall(view: ViewSummary): string {
  const rules = ruleRows(view);
  return [
    htmlTable(winRows(view)),
    ...(rules.length > 1 ? ['<br>', htmlTable(rules)] : []),
    ...viewNotes(view).map(note),
  ].join('');
}

function htmlTable([header, ...rows]: string[][]): string {
  const head = (header ?? []).map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const body = rows
    .map((row) => `<tr>${row.map((text) => `<td>${escapeHtml(text)}</td>`).join('')}</tr>`)
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
      return `<tr><td>${escapeHtml(cell.page)}</td><td>${escapeHtml(network)}</td>${columns.join('')}${verdictCell(cell)}</tr>`;
    })
    .join('');
  return `<table class="cells"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function verdictCell(cell: CellSummary): string {
  const { fastest, by, trust } = verdict(cell);
  if (fastest === NONE) return `<td>${NONE}</td>`;
  return `<td${cell.decided ? ' class="best"' : ''}>${fastest} by ${by}<small>${trust}</small></td>`;
}

function seriesCell(
  series: SeriesSummary | undefined,
  missing: Missing | undefined,
  isBest: boolean,
): string {
  if (!series) {
    return missing === undefined
      ? `<td>${NONE}</td>`
      : `<td title="${escapeHtml(missing.reason)}">${missing.kind}</td>`;
  }
  const { medianMs, medianLowMs, medianHighMs, cv, loads, timeouts } = series;
  const high = medianHighMs === null ? 'never' : duration(medianHighMs);
  const spread = cv === null ? '' : `, CV ${percent(cv)}`;
  const failed = timeouts > 0 ? `, ${timeouts} timed out` : '';
  return `<td${isBest ? ' class="best"' : ''}>${duration(medianMs)}<small>${duration(medianLowMs)} – ${high}${spread}, n ${loads}${failed}</small></td>`;
}

function networkTable({ networks }: GroundTruthMatrix): string {
  return htmlTable([
    ['network', 'title', 'figures'],
    ...Object.entries(networks).map(([name, { title, network }]) => [
      name,
      title,
      networkText({
        ...network,
        udp: udpNotation(toNetworkPath(network).udp),
      }),
    ]),
  ]);
}
