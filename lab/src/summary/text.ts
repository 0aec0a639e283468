/** The summary of a folder as text. */

import { table, wrap } from '@hopwise/contract/terminal';
import type { Missing } from '../judge/cell-loads.ts';
import { LOAD_PROTOCOL_NAME, LOAD_PROTOCOLS, NONE, percent } from '../output/names.ts';
import type { GroundTruthSummary, SeriesSummary } from './summary.ts';
import { loadsText, ruleRows, VERDICT_NOTE, VIEW_NAMES, verdict, viewNotes, winRows } from './words.ts';

const WIDTH = 120;

export function renderSummaryText(summary: GroundTruthSummary): string {
  const { cells, views } = summary;
  const protocols = LOAD_PROTOCOLS.filter((protocol) =>
    cells.some((cell) => cell.protocols[protocol] || cell.unavailable[protocol] !== undefined),
  );
  const several = Object.keys(views).length > 1;
  const header = [
    'page',
    'network',
    ...(several ? ['view'] : []),
    ...protocols.map((protocol) => LOAD_PROTOCOL_NAME[protocol]),
    'fastest',
    'by',
    'trust',
  ];
  const rows = cells.map((cell, index) => [
    cells[index - 1]?.page === cell.page ? '' : cell.page,
    cell.network,
    ...(several ? [cell.view] : []),
    ...protocols.map((protocol) => seriesText(cell.protocols[protocol], cell.unavailable[protocol])),
    ...Object.values(verdict(cell)),
  ]);
  const lines = [
    table([header, ...rows]),
    '',
    ...wrap(
      `Seconds: the median, its 95% bootstrap interval, and the CV of the loads. ${VERDICT_NOTE}`,
      WIDTH,
    ),
    '',
    ...wrap(loadsText(summary.loads), WIDTH),
  ];
  for (const [view, own] of Object.entries(views)) {
    if (several) lines.push('', `${VIEW_NAMES[view as keyof typeof views]}:`);
    const rules = ruleRows(own);
    lines.push('', table(winRows(own)));
    if (rules.length > 1) lines.push('', table(rules));
    lines.push('', ...viewNotes(own).flatMap((note) => wrap(note, WIDTH)));
  }
  return `${lines.join('\n')}\n`;
}

function seriesText(series: SeriesSummary | undefined, missing: Missing | undefined): string {
  if (!series) return missing?.kind ?? NONE;
  const { medianMs, medianLowMs, medianHighMs, cv, timeouts } = series;
  const high = medianHighMs === null ? 'never' : seconds(medianHighMs);
  const spread = cv === null ? '' : ` ${percent(cv, 0)}`;
  const failed = timeouts > 0 ? ` ${timeouts} timed out` : '';
  return `${seconds(medianMs)} ${seconds(medianLowMs)}–${high}${spread}${failed}`;
}

/** Three digits. */
const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 10_000 ? 2 : 1);
