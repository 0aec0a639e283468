/** `npm run bench -- reading`: what is read from emulated loads of drawn pages, of which everything is known. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { drawCells } from '@hopwise/lab/gauntlet/cells';
import { type JudgedReading, judgeCell } from './judge-cell.ts';
import { type JudgedDecision, judgeDecisions, renderDecisions } from './judge-decisions.ts';
import { type JudgedRange, judgeRanges, renderRanges } from './judge-ranges.ts';
import { parseOptions } from './options.ts';
import { readingFigures, renderReadings } from './reading-table.ts';
import { trueCell } from './true-load.ts';

await runProgram(async ({ signal }) => {
  const { split, seed, cells, json, ranges, decisions } = parseOptions(process.argv.slice(2));
  const progress = new Progress();
  const readings: JudgedReading[] = [];
  const judged: JudgedRange[] = [];
  const decided: JudgedDecision[] = [];
  for (const [number, drawn] of drawCells(split, seed, cells).entries()) {
    await nextTurn();
    signal.throwIfAborted();
    progress.detail(drawn.name);
    const cell = trueCell(drawn, number >> 1);
    if (ranges) judged.push(...judgeRanges(cell));
    else if (decisions) decided.push(...judgeDecisions(cell));
    else readings.push(...judgeCell(cell));
  }
  if (ranges) {
    process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : renderRanges(judged));
    return;
  }
  if (decisions) {
    process.stdout.write(json ? `${JSON.stringify(decided, null, 1)}\n` : renderDecisions(decided));
    return;
  }
  process.stdout.write(
    json
      ? `${JSON.stringify({ figures: readingFigures(readings), readings }, null, 1)}\n`
      : renderReadings(readings),
  );
});
