/** `npm run bench -- day`: how many loads of a day are recorded in detail and learned, and whether the decisions are as good as by all. */
import { messageOf } from '@hopwise/contract';
import { unifyErrors } from '@hopwise/contract/command-line';
import { UserError } from '@hopwise/lab/command/errors';
import { integer, list } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { SPLITS } from '@hopwise/lab/gauntlet/splits';
import { Option } from 'commander';
import { benchCommand } from '../../bench-command.ts';
import { networkNamed } from '../../product/networks.ts';
import { partsOf } from '../../product/run-product.ts';
import { type DayFigures, judgeDay, showDays } from './day-table.ts';
import type { DayPlan } from './draw-day.ts';
import { DAY_ARMS, runDay } from './run-day.ts';

/** Two networks a day. */
const DAYS = ['cable>lte', 'cable>udp-policed', 'udp-policed>lossy'];

interface Options extends DayPlan {
  json: boolean;
}

function parseOptions(argv: string[]): Options {
  const command = benchCommand(
    'day',
    'Has the extension record, learn and act on the emulated loads of a day, light and in detail, and beside it learn every load.',
  )
    .addOption(new Option('--split <name>', 'whose pages').choices(SPLITS).default('validation'))
    .option('--seed <n>', 'of pages, networks and losses', integer(0, 10_000), 1)
    .option('--sites <n>', 'drawn pages, visited by Zipf’s law', integer(1, 100), 40)
    .option('--loads <n>', 'of a day', integer(4, 1_000), 200)
    .option(
      '--networks <days>',
      'of lab/networks.json, or far; a day changes between those with > between them',
      list,
      DAYS,
    )
    .option('--json', 'print the figures as JSON and nothing else', false);
  unifyErrors(command);
  const options = command.parse(argv, { from: 'user' }).opts<Options>();
  try {
    for (const name of options.networks.flatMap(partsOf)) networkNamed(name);
  } catch (error) {
    throw new UserError(`--networks: ${messageOf(error)}`, 2);
  }
  return options;
}

await runProgram(async ({ signal }) => {
  const { json, networks, ...plan } = parseOptions(process.argv.slice(2));
  const progress = new Progress();
  const figures: DayFigures[] = [];
  for (const day of networks) {
    for (const arm of DAY_ARMS) {
      progress.detail(`${day}, ${arm}`);
      figures.push(judgeDay(day, arm, await runDay(arm, { ...plan, networks: partsOf(day) }, signal)));
    }
  }
  process.stdout.write(json ? `${JSON.stringify(figures, null, 1)}\n` : showDays(figures));
});
