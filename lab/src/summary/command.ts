/** Summarises a folder of measured loads: on the terminal, as `summary.json`, as charts and as `index.html`. */

import { firstLine } from '@hopwise/contract';
import { UserError } from '../command/errors.ts';
import { replaceFileWithin } from '../command/write-file.ts';
import type { GroundTruthLoad } from '../ground-truth/ground-truth.ts';
import { readLoads, readMatrix } from '../ground-truth/store.ts';
import { standaloneSvg } from '../output/charts.ts';
import { drawCharts } from './charts.ts';
import { renderSummaryHtml } from './html.ts';
import { type GroundTruthSummary, summarise } from './summary.ts';
import { renderSummaryText } from './text.ts';

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
