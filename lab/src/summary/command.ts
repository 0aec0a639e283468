/** Summarises a folder of measured loads: on the terminal, as `summary.json`, as charts and as `index.html`. */

import { firstLine, UserError } from '@hopwise/lab/command/errors';
import { replaceFileWithin } from '@hopwise/lab/command/write-file';
import type { GroundTruthLoad } from '@hopwise/lab/ground-truth/ground-truth';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { standaloneSvg } from '../html/charts.ts';
import { type GroundTruthSummary, summarise } from './summary.ts';
import { drawCharts } from './summary-charts.ts';
import { renderSummaryHtml } from './summary-html.ts';
import { renderSummaryText } from './summary-text.ts';

/**
 * @returns the text for stdout
 * @throws UserError naming what cannot be read or written
 */
export async function summariseFolder(dir: string, { json }: { json: boolean }): Promise<string> {
  const matrix = await readMatrix(dir);
  if (matrix === null)
    throw new UserError(`${dir}: expected a folder of measured loads, there is no matrix.json`, 2);
  const loads: GroundTruthLoad[] = [];
  for await (const load of readLoads(dir)) {
    const { outcome } = load;
    // Skips recordings, which are most of the data and not needed here.
    loads.push(
      outcome.ok
        ? { ...load, outcome: { ...outcome, recording: { ...outcome.recording, requests: [] } } }
        : load,
    );
  }
  if (loads.length === 0) throw new UserError(`${dir}: there are no loads yet`, 2);
  const summary: GroundTruthSummary = summarise(matrix, loads);
  const charts = drawCharts(summary, matrix);
  try {
    await replaceFileWithin(dir, 'summary.json', `${JSON.stringify(summary, null, 1)}\n`);
    for (const chart of charts) {
      await replaceFileWithin(dir, `plots/${chart.name}.svg`, await standaloneSvg(chart));
    }
    await replaceFileWithin(dir, 'index.html', await renderSummaryHtml(summary, matrix, charts));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${dir}: the summary cannot be written: ${firstLine(error)}`);
  }
  return json ? `${JSON.stringify(summary)}\n` : renderSummaryText(summary);
}
