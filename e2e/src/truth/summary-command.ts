/** Summarises a folder of measured loads: on the terminal, as `summary.json`, as charts and as `index.html`. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine, UserError } from '../start/errors.ts';
import type { GroundTruthLoad } from './ground-truth.ts';
import { readLoads, readMatrix } from './store.ts';
import { type GroundTruthSummary, summarise } from './summary.ts';
import { drawCharts } from './summary-charts.ts';
import { renderSummaryHtml, themeCss } from './summary-html.ts';
import { renderSummaryText } from './summary-text.ts';

/**
 * @returns what goes to stdout
 * @throws UserError naming what cannot be read or written
 */
export async function summariseFolder(dir: string, { json }: { json: boolean }): Promise<string> {
  const matrix = await readMatrix(dir);
  if (matrix === null)
    throw new UserError(`${dir}: expected a folder of measured loads, there is no matrix.json`, 2);
  const loads: GroundTruthLoad[] = [];
  for await (const load of readLoads(dir)) {
    const { outcome } = load;
    // Recordings are most of what is on disk, and of no use here.
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
    await replaceFile(join(dir, 'summary.json'), `${JSON.stringify(summary, null, 1)}\n`);
    await mkdir(join(dir, 'plots'), { recursive: true });
    const theme = colours(await themeCss());
    for (const { name, svg } of charts) {
      await replaceFile(join(dir, 'plots', `${name}.svg`), withStyle(svg, theme));
    }
    await replaceFile(join(dir, 'index.html'), await renderSummaryHtml(summary, matrix, charts));
  } catch (error) {
    throw new UserError(`${dir}: the summary cannot be written: ${firstLine(error)}`);
  }
  return json ? `${JSON.stringify(summary)}\n` : renderSummaryText(summary);
}

/** The theme's custom properties, light and dark. */
function colours(theme: string): string {
  const blocks = theme.match(/(@media \(prefers-color-scheme: dark\) \{\s*)?:root \{[^}]*\}(\s*\})?/g);
  if (!blocks) throw new Error('theme.css: expected colours under :root');
  return blocks.join('\n');
}

/** For a file of its own, where there is no page to set colours. */
function withStyle(svg: string, theme: string): string {
  const style = `${theme}\nsvg { color: var(--hw-text); background: var(--hw-surface); font-family: system-ui, sans-serif; }`;
  return svg.replace('>', `><style>${style}</style>`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
