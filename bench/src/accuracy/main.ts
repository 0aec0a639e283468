/** `npm run bench -- accuracy`: predictions judged by measured loads. */
import { mkdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { UserError } from '@hopwise/lab/command/errors';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { replaceFileWithin } from '@hopwise/lab/command/write-file';
import { readKnownPages } from '@hopwise/lab/gauntlet/known-pages';
import { standaloneSvg } from '@hopwise/lab/output/charts';
import { judgePredictions, type PredictionProgress } from './accuracy.ts';
import { renderAccuracy } from './accuracy-table.ts';
import { readCells } from './cells.ts';
import { drawCharts } from './charts.ts';
import { compareGolden, goldenFigures, makeGolden, readAccepted, writeAccepted } from './golden.ts';
import { renderAccuracyHtml } from './html.ts';
import { type BenchOptions, type GoldenOptions, parseOptions, type RowsOptions } from './options.ts';
import { judgeReadings } from './readings/judge-readings.ts';
import { renderReadings } from './readings/reading-table.ts';
import { KNOWLEDGE, type StackingRow, stackingRow } from './stacking-rows.ts';

/** Interval of progress lines where there is no terminal to replace a line on. */
const LINE_EVERY_MS = 10_000;

await runProgram(async ({ signal, say }) => {
  const options = parseOptions(process.argv.slice(2));
  if (options.command === 'bench') await judge(options, signal);
  else if (options.command === 'rows') await writeRows(options, signal);
  else await judgeGolden(options, signal, say);
});

async function judge(options: BenchOptions, signal: AbortSignal): Promise<void> {
  const progress = new Progress();
  progress.step(`reading ${options.dir}`);
  const measured = await readCells(options.dir, options);
  await makeOutputFolder(options.out);
  const recorded = measured.cells.reduce((sum, cell) => sum + cell.recorded.length, 0);
  progress.step(`predicting from ${recorded} loads of ${measured.cells.length} cells`);
  const accuracy = await judgePredictions(measured, predictionProgress(progress, signal));
  progress.step(`writing to ${options.out}`);
  const text = `${JSON.stringify(accuracy, null, 1)}\n`;
  const tables = [renderAccuracy(accuracy), ...(await readingTables(options, progress, signal))].join('\n');
  const charts = drawCharts(accuracy);
  const write = (name: string, content: string) => replaceFileWithin(options.out, name, content);
  await write('accuracy.json', text);
  for (const chart of charts) await write(`${chart.name}.svg`, await standaloneSvg(chart));
  await write('index.html', await renderAccuracyHtml(charts, tables));
  process.stdout.write(options.json ? text : tables);
}

async function writeRows({ dir, file }: RowsOptions, signal: AbortSignal): Promise<void> {
  const progress = new Progress();
  const { cells } = await readCells(dir);
  const report = predictionProgress(progress, signal);
  const asked = cells.flatMap((cell) =>
    cell.recorded.flatMap((recorded) => KNOWLEDGE.map((knowledge) => ({ cell, recorded, knowledge }))),
  );
  progress.step(`predicting from ${asked.length / KNOWLEDGE.length} loads of ${cells.length} cells`);
  const rows: StackingRow[] = [];
  for (const [done, { cell, recorded, knowledge }] of asked.entries()) {
    report({ done, total: asked.length, cell: `${cell.page} on ${cell.network}` });
    const row = stackingRow(cell, recorded, knowledge);
    if (row !== null) rows.push(row);
    // Signals arrive between two predictions.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const path = resolve(file);
  await mkdir(dirname(path), { recursive: true });
  await replaceFileWithin(
    dirname(path),
    basename(path),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
  process.stdout.write(`${rows.length} rows of ${cells.length} cells: ${file}\n`);
}

/** Judges what is read out of the recordings, and writes it as `readings.json`. */
async function readingTables(
  options: BenchOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<string[]> {
  if (!options.readings && (await readKnownPages(options.dir)) === null) return [];
  progress.step('judging what is read out of recordings under each protocol');
  const readings = await judgeReadings(options.dir, options, (cell) => {
    signal.throwIfAborted();
    progress.detail(cell);
  });
  await replaceFileWithin(options.out, 'readings.json', `${JSON.stringify(readings, null, 1)}\n`);
  return [`${renderReadings(readings.figures)}\n`];
}

/** Shows the progress of the predictions; throws the signal's reason between two of them. */
function predictionProgress(progress: Progress, signal: AbortSignal): (at: PredictionProgress) => void {
  let startedMs = progress.elapsedMs;
  let saidMs = startedMs;
  return ({ done, total, cell }) => {
    signal.throwIfAborted();
    const nowMs = progress.elapsedMs;
    if (done === 0) startedMs = nowMs;
    const leftMs = ((nowMs - startedMs) / done) * (total - done);
    const text = `${done} of ${total}${done === 0 ? '' : `, ${Math.ceil(leftMs / 1000)} s left`}: ${cell}`;
    if (process.stderr.isTTY) {
      progress.detail(text);
    } else if (nowMs - saidMs >= LINE_EVERY_MS) {
      saidMs = nowMs;
      progress.step(text);
    }
  };
}

async function judgeGolden(
  { from, dir, recordings, accept }: GoldenOptions,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const progress = new Progress();
  const known = await readAccepted(dir).catch((error: unknown) => {
    // A new set has no earlier figures to compare with; --accept replaces them.
    if (from === null && !accept) throw error;
    return {};
  });
  if (from !== null) {
    progress.step(`making ${dir} from ${from}`);
    await makeGolden(from, dir, recordings);
  }
  progress.step(`predicting from ${dir}`);
  const figures = await goldenFigures(dir, predictionProgress(progress, signal));
  const { lines, worse } = compareGolden(known, figures);
  process.stdout.write(`${lines.join('\n')}\n`);
  if (from !== null || accept) {
    await writeAccepted(dir, figures);
    say(`accepted the present figures: ${dir}/accuracy.json`);
  } else if (worse.length > 0) {
    throw new UserError(
      `worse than accepted by more than the slack: ${worse.join('; ')} (--accept accepts them)`,
    );
  }
}
