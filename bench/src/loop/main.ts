/** `npm run bench:loop`: learning in real Chromium on a network that changes, beside the browser's own choice. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { labObstacle } from '@hopwise/lab/client/lab';
import { firstLine, UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { openPage, PAGE_FORMS } from '@hopwise/lab/pages/page-source';
import { Command } from 'commander';
import { judgeLoop } from './judge-loop.ts';
import { showLoop } from './loop-table.ts';
import { runLoop } from './run-loop.ts';

const QUICK_LOADS = 24;

interface Options {
  out?: string;
  page: string;
  loads: number;
  seed: number;
  repeats: number;
  quick: boolean;
  json: boolean;
}

await runProgram(async (context) => {
  const command = new Command()
    .name('npm run bench:loop --')
    .description(
      "Loads a page in real Chromium as hopwise's closed loop chooses, on a network that changes, beside the browser's own choice. Loads are kept: the same command continues an interrupted run.",
    )
    .option('--page <page>', PAGE_FORMS, 'app')
    .option('--loads <n>', 'loads of the loop', integer(4, 10_000), 200)
    .option('--seed <n>', 'of losses and exploring', integer(0, 10_000), 1)
    .option('--repeats <n>', 'how often a load that other work disturbed is repeated', integer(0, 10), 2)
    .option('--quick', `${QUICK_LOADS} loads`, false)
    .option('--out <dir>', 'folder of the loads (default: out/loop-PAGE-LOADS-SEED)')
    .option('--json', 'print the figures as JSON and nothing else', false)
    .showHelpAfterError('(see npm run bench:loop -- --help)')
    .exitOverride();
  command.parse(process.argv.slice(2), { from: 'user' });
  const options = command.opts<Options>();
  const { page, seed } = options;
  const loads = options.quick ? QUICK_LOADS : options.loads;
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  const source = await openPage(page, context.signal);
  const dir = resolve(options.out ?? `out/loop-${source.name}-${loads}-${seed}`);
  await mkdir(dir, { recursive: true }).catch((error) => {
    throw new UserError(`--out ${dir}: ${firstLine(error)}`, 2);
  });
  const unlock = await lockFolder(dir);
  try {
    await context.useScratch();
    const steps = await runLoop(dir, source, { page: source.name, loads, seed }, options.repeats, context);
    const figures = judgeLoop(steps);
    process.stdout.write(options.json ? `${JSON.stringify(figures, null, 1)}\n` : showLoop(figures));
  } finally {
    await unlock();
  }
});
