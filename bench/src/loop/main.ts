/** `npm run bench -- loop`: the autopilot with trials, with the helper and its pins, on pages that are visited again and again. */

import { unifyErrors } from '@hopwise/contract/command-line';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { benchCommand } from '../bench-command.ts';
import { ARMS } from '../product/arms.ts';
import { prepareRun } from '../product/prepare-run.ts';
import { runProduct } from '../product/run-product.ts';
import { addVisitOptions, type VisitOptions } from '../product/visit-options.ts';
import { judgeLoop } from './judge-loop.ts';
import { judgeRuns } from './judge-runs.ts';
import { showLoop } from './loop-table.ts';
import { showRuns } from './runs-table.ts';

/** Seeds of the pages that only this bench draws. */
const FIRST_PAGE_SEED = 5_700_000;
const NETWORKS = ['cable', 'lossy', 'lte', 'udp-policed', 'cable>udp-policed'];
const QUICK = { pages: 1, networks: ['cable>udp-policed'], loads: 12 };
/** The arm that is judged. */
const LOOP = 'explore';
const INTRODUCTION = [
  `The closed loop as it ships (${ARMS[LOOP].says}) in real Chromium, visited in turns with the same losses as the browser alone and`,
  'browsers that are held to a protocol by their own flags. Geometric means of mean load times over pages, with 95% intervals.',
];

interface Options extends VisitOptions {
  loads: number;
  every: number;
}

await runProgram(async (context) => {
  const command = benchCommand(
    'loop',
    "Loads pages in real Chromium with hopwise as it ships, its autopilot and trials on, beside the browser's own choice and fixed protocols. Visits of a finished network are kept: the same command continues an interrupted run.",
  )
    .option('--loads <n>', 'of each page', integer(2, 10_000), 200)
    .option('--every <n>', 'loads after which the fixed protocols are loaded too', integer(1, 1_000), 5);
  addVisitOptions(command, {
    pages: 6,
    networks: NETWORKS,
    networkNames: 'of lab/networks.json; a>b replaces the network halfway through the loads of each page',
    quick: `${QUICK.loads} loads of one page on ${QUICK.networks.join()}`,
    out: 'out/loop-LOADS-SEED',
  });
  unifyErrors(command);
  command.parse(process.argv.slice(2), { from: 'user' });
  const options = command.opts<Options>();
  const { seed, quick, keepLoads: keepsLoads } = options;
  const networks = quick ? QUICK.networks : options.networks.split(',');
  const visits = quick ? QUICK.loads : options.loads;
  const { pages, dir, unlock } = await prepareRun(
    {
      named: options.page,
      count: quick ? QUICK.pages : options.pages,
      firstSeed: FIRST_PAGE_SEED + 1000 * seed,
      networks,
      out: options.out ?? `out/loop-${visits}-${seed}`,
    },
    context.signal,
  );
  try {
    await context.useScratch();
    const references = { arms: ['h1', 'h2', 'h3'] as const, every: options.every };
    const arms = ['off', LOOP] as const;
    const plan = {
      browser: 'chromium' as const,
      pages,
      networks,
      arms,
      references,
      listsRuns: true,
      keepsLoads,
      visits,
      seed,
    };
    const measured = await runProduct(dir, plan, context);
    const figures = judgeLoop(LOOP, measured);
    const runs = judgeRuns(LOOP, measured);
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ figures, runs }, null, 1)}\n`
        : `${showLoop(INTRODUCTION, figures)}\n${showRuns(runs)}`,
    );
  } finally {
    await unlock();
  }
});
