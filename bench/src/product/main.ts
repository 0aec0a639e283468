/** `npm run bench -- product`: the whole product in real Chromium beside the browser alone. */
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { Command } from 'commander';
import { ARM_NAMES, ARMS, type ProductArm } from './arms.ts';
import { judgeProduct } from './judge-product.ts';
import { prepareRun } from './prepare-run.ts';
import { showProduct } from './product-table.ts';
import { runProduct } from './run-product.ts';

/** Seeds of the pages that only this bench draws. */
const FIRST_PAGE_SEED = 5_300_000;
const NETWORKS = ['cable', 'udp-policed', 'lte', 'lossy', 'dsl', 'wifi-bursty', 'fast', 'udp-blocked'];
const QUICK = { pages: 2, networks: ['cable', 'udp-policed'], visits: 3 };

interface Options {
  arms: string;
  pages: number;
  page?: string[];
  networks: string;
  visits: number;
  seed: number;
  quick: boolean;
  out?: string;
  json: boolean;
}

await runProgram(async (context) => {
  const command = new Command()
    .name('npm run bench -- product')
    .description(
      "Loads pages in real Chromium with hopwise as it ships and beside it with the browser alone, by turns on the lab's networks, in one profile for each network and arm. Visits of a finished network are kept: the same command continues an interrupted run.",
    )
    .option(
      '--arms <names>',
      `besides \`off\`, with commas between them: ${ARM_NAMES.slice(1)
        .map((name) => `${name} (${ARMS[name].says})`)
        .join(', ')}`,
      'off-again,record,auto',
    )
    .option('--pages <n>', "pages drawn from the web's distribution by the seed", integer(1, 100), 12)
    .option('--page <page>', 'this page instead, may be given again', (page: string, all: string[] = []) => [
      ...all,
      page,
    ])
    .option('--networks <names>', 'of lab/networks.json', NETWORKS.join(','))
    .option('--visits <n>', 'of each page', integer(1, 50), 6)
    .option('--seed <n>', 'of pages and losses', integer(0, 10_000), 1)
    .option(
      '--quick',
      `${QUICK.pages} pages, ${QUICK.visits} visits on ${QUICK.networks.join(' and ')}`,
      false,
    )
    .option('--out <dir>', 'folder of the visits (default: out/product-SEED)')
    .option('--json', 'print the figures as JSON and nothing else', false)
    .exitOverride();
  command.parse(process.argv.slice(2), { from: 'user' });
  const options = command.opts<Options>();
  const { seed } = options;
  const arms: ProductArm[] = ['off', ...readArms(options.arms)];
  const networks = options.quick ? QUICK.networks : options.networks.split(',');
  const { pages, dir, unlock } = await prepareRun(
    {
      named: options.page,
      count: options.quick ? QUICK.pages : options.pages,
      firstSeed: FIRST_PAGE_SEED + 1000 * seed,
      networks,
      out: options.out ?? `out/product-${seed}`,
    },
    context.signal,
  );
  try {
    await context.useScratch();
    const visits = options.quick ? QUICK.visits : options.visits;
    const measured = await runProduct(dir, { pages, networks, arms, visits, seed }, context);
    const figures = judgeProduct(measured);
    process.stdout.write(options.json ? `${JSON.stringify(figures, null, 1)}\n` : showProduct(figures));
  } finally {
    await unlock();
  }
});

function readArms(text: string): ProductArm[] {
  const names = text.split(',');
  const unknown = names.find((name) => name === 'off' || !ARM_NAMES.includes(name as ProductArm));
  if (unknown !== undefined)
    throw new UserError(`--arms: expected some of ${ARM_NAMES.slice(1).join(', ')}, got ${unknown}`, 2);
  return names as ProductArm[];
}
