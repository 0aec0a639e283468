/** `npm run bench -- flows`: single flows of real senders, and the emulator judged by them. */
import { resolve } from 'node:path';
import { UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { type ProgramContext, runProgram } from '@hopwise/lab/command/program';
import { renderFlows } from './flows-table.ts';
import { type FlowCell, flowGrid } from './grid.ts';
import { measureFlows } from './measure.ts';
import { type FlowOptions, parseOptions } from './options.ts';
import { scoreFlows } from './score.ts';
import { type FlowsFile, readFlows } from './store.ts';

await runProgram(async (context) => {
  const options = parseOptions(process.argv.slice(2));
  const dir = resolve(options.out);
  const cells = wanted(options);
  const file = options.measure ? await measure(dir, cells, options, context) : await readFlows(dir);
  if (file === null) throw new UserError(`${dir}: there are no measured flows`, 2);
  const scores = scoreFlows(cells, file);
  if (scores.length === 0) throw new UserError(`${dir}: there are no flows of these cells`, 2);
  process.stdout.write(
    options.json ? `${JSON.stringify(scores, null, 1)}\n` : renderFlows(scores, options.cells),
  );
});

/** @throws UserError when no cell is left */
function wanted({ half, senders, only }: FlowOptions): FlowCell[] {
  const cells = flowGrid().filter(
    (cell) =>
      half.includes(cell.half) &&
      senders.includes(cell.sender) &&
      (only === undefined || only.some((text) => cell.id.includes(text))),
  );
  if (cells.length === 0)
    throw new UserError('--only: expected a part of a cell’s name, as --cells shows', 2);
  return cells;
}

async function measure(
  dir: string,
  cells: readonly FlowCell[],
  { seeds, labs, out }: FlowOptions,
  context: ProgramContext,
): Promise<FlowsFile | null> {
  await makeOutputFolder(out);
  const unlock = await lockFolder(dir);
  try {
    return await measureFlows({ dir, cells, present: await readFlows(dir), seeds, labs }, context);
  } finally {
    await unlock();
  }
}
