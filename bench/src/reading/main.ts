/** `npm run bench -- reading`: what is read from emulated loads of drawn pages, of which everything is known. */
import { appendFile, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkOutputFile } from '@hopwise/lab/command/output-folder';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { type DrawnCell, drawCells } from '@hopwise/lab/gauntlet/cells';
import { drawHeavyCells } from './heavy-cells.ts';
import { type JudgedActions, judgeActions, renderActions } from './judge-actions.ts';
import { type JudgedReading, judgeCell } from './judge-cell.ts';
import {
  type JudgedDecision,
  type JudgedRule,
  judgeDecisions,
  judgeRules,
  renderDecisions,
} from './judge-decisions.ts';
import { type JudgedRange, judgeRanges, renderRanges } from './judge-ranges.ts';
import { parseOptions } from './options.ts';
import { readingFigures, renderReadings } from './reading-table.ts';
import { stackingCell } from './stacking-cell.ts';
import { trueCell } from './true-load.ts';

await runProgram(async ({ signal }) => {
  const { split, seed, cells, heavy, uploads, json, ranges, decisions, actions, rows } = parseOptions(
    process.argv.slice(2),
  );
  const progress = new Progress();
  if (rows !== undefined) {
    await checkOutputFile('--rows', rows);
    const written = await writeRows(rows, drawCells(split, seed, cells), progress, signal);
    process.stdout.write(`${written} rows of ${cells} cells: ${rows}\n`);
    return;
  }
  const readings: JudgedReading[] = [];
  const judged: JudgedRange[] = [];
  const decided: JudgedDecision[] = [];
  const rules: JudgedRule[] = [];
  const recommended: JudgedActions[] = [];
  const drawnCells = heavy ? drawHeavyCells(split, seed, cells) : drawCells(split, seed, cells);
  for (const [number, drawn] of drawnCells.entries()) {
    await nextTurn();
    signal.throwIfAborted();
    progress.detail(drawn.name);
    const cell = trueCell(drawn, number >> 1, uploads);
    if (ranges) judged.push(...judgeRanges(cell));
    else if (actions) recommended.push(...judgeActions(cell, number));
    else if (decisions) {
      decided.push(...judgeDecisions(cell));
      rules.push(...judgeRules(cell));
    } else readings.push(...judgeCell(cell));
  }
  if (ranges) {
    process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : renderRanges(judged));
    return;
  }
  if (actions) {
    process.stdout.write(json ? `${JSON.stringify(recommended, null, 1)}\n` : renderActions(recommended));
    return;
  }
  if (decisions) {
    process.stdout.write(
      json ? `${JSON.stringify({ decisions: decided, rules }, null, 1)}\n` : renderDecisions(decided, rules),
    );
    return;
  }
  process.stdout.write(
    json
      ? `${JSON.stringify({ figures: readingFigures(readings), readings }, null, 1)}\n`
      : renderReadings(readings),
  );
});

/** Writes the rows of each cell as soon as there are any. @returns their number */
async function writeRows(
  file: string,
  cells: readonly DrawnCell[],
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  await writeFile(file, '');
  let written = 0;
  for (const [number, drawn] of cells.entries()) {
    await nextTurn();
    signal.throwIfAborted();
    progress.detail(`${number + 1} of ${cells.length}: ${drawn.name}`);
    const rows = stackingCell(drawn, number);
    await appendFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    written += rows.length;
  }
  return written;
}
