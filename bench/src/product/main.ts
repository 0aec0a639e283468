/** `npm run bench -- product`: the whole product in a real browser beside the browser alone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupBy } from '@hopwise/contract';
import { unifyErrors } from '@hopwise/contract/command-line';
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { standaloneSvg } from '@hopwise/lab/output/charts';
import { Option } from 'commander';
import { benchCommand } from '../bench-command.ts';
import { showAnswers } from './answers-table.ts';
import { requireBrowser } from './arm-browser.ts';
import { ARM_NAMES, ARMS, BROWSER_NAMES, type BrowserName, listArms, type ProductArm } from './arms.ts';
import { drawProduct } from './chart.ts';
import { showGoals } from './goals-table.ts';
import { judgeAnswers } from './judge-answers.ts';
import { hindersUdp, judgeGoals } from './judge-goals.ts';
import { type ArmFigures, judgeProduct } from './judge-product.ts';
import { prepareRun } from './prepare-run.ts';
import { showProduct } from './product-table.ts';
import { runProduct } from './run-product.ts';
import { stackOf } from './start-rate-servers.ts';
import type { StoredVisit } from './store.ts';
import { addVisitOptions, type VisitOptions } from './visit-options.ts';

/** Seeds of the pages that only this bench draws. */
const FIRST_PAGE_SEED = 5_300_000;
const NETWORKS = ['cable', 'udp-policed', 'lte', 'lossy', 'dsl', 'wifi-bursty', 'fast', 'udp-blocked'];
/** Measured where a network hinders UDP, to show what could be gained. */
const WITHOUT_H3: ProductArm = 'h2';
const QUICK = { pages: 2, networks: ['cable', 'udp-policed'], visits: 3 };

interface Options extends VisitOptions {
  browser: BrowserName;
  arms: string;
  visits: number;
  cache: boolean;
}

await runProgram(async (context) => {
  const command = benchCommand(
    'product',
    "Loads pages in a real browser with hopwise as it ships and beside it with the browser alone, by turns on the lab's networks, in one profile for each network and arm; where a network hinders UDP also without HTTP/3, which shows what can be gained. Visits of a finished network are kept: the same command continues an interrupted run, and with the other browser its figures stand beside those of the first. The folder also gets a chart of each browser, `product-BROWSER.svg`, light and dark. With --keep-loads what hopwise answers from each load is shown beside what the arms took.",
  )
    .addOption(
      new Option('--browser <which>', 'whose visits are measured').choices(BROWSER_NAMES).default('chromium'),
    )
    .option(
      '--arms <names>',
      `besides \`off\`, with commas between them: ${ARM_NAMES.slice(1)
        .map((name) => `${name} (${ARMS[name].says})`)
        .join(', ')}`,
      'off-again,record,auto',
    )
    .option('--visits <n>', 'of each page', integer(1, 50), 6)
    .option('--cache', 'leave the browser its HTTP cache, as people do', false);
  addVisitOptions(command, {
    pages: 12,
    networks: NETWORKS,
    quick: `${QUICK.pages} pages, ${QUICK.visits} visits on ${QUICK.networks.join(' and ')}`,
    out: 'out/product-SEED',
  });
  unifyErrors(command);
  command.parse(process.argv.slice(2), { from: 'user' });
  const options = command.opts<Options>();
  const { browser, seed, cache: usesCache, keepLoads: keepsLoads } = options;
  const arms: ProductArm[] = ['off', ...readArms(options.arms, browser)];
  const networks = options.quick ? QUICK.networks : options.networks.split(',');
  requireBrowser(browser);
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
    let measured: StoredVisit[] = [];
    for (const network of networks) {
      const own = hindersUdp(network) ? [...new Set([...arms, WITHOUT_H3])] : arms;
      const plan = { browser, pages, networks: [network], arms: own, usesCache, keepsLoads, visits, seed };
      measured = await runProduct(dir, plan, context);
    }
    const figures: (ArmFigures & { browser: BrowserName })[] = [];
    const texts: string[] = [];
    for (const [name, own] of groupBy(measured, (visit) => visit.browser)) {
      const arms = judgeProduct(own);
      await writeFile(join(dir, `product-${name}.svg`), await standaloneSvg(drawProduct(name, arms)));
      figures.push(...arms.map((each) => ({ browser: name, ...each })));
      texts.push(`${showProduct(name, usesCache, arms)}\n${showGoals(judgeGoals(own))}`);
    }
    const answers = keepsLoads ? await judgeAnswers(dir, measured) : [];
    if (answers.length > 0) texts.push(showAnswers(answers));
    process.stdout.write(
      options.json ? `${JSON.stringify({ arms: figures, answers }, null, 1)}\n` : texts.join('\n'),
    );
  } finally {
    await unlock();
  }
});

function readArms(text: string, browser: BrowserName): ProductArm[] {
  const names = text.split(',');
  const known = listArms(browser);
  const unknown = names.find((name) => !known.includes(name as ProductArm));
  if (unknown !== undefined)
    throw new UserError(`--arms: expected some of ${known.join(', ')}, got ${unknown}`, 2);
  // Refused before pages are drawn where their servers differ.
  stackOf(names as ProductArm[]);
  return names as ProductArm[];
}
