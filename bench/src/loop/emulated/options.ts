import { messageOf } from '@hopwise/contract';
import { unifyErrors } from '@hopwise/contract/command-line';
import { UserError } from '@hopwise/lab/command/errors';
import { integer, list } from '@hopwise/lab/command/option-types';
import { SPLITS } from '@hopwise/lab/gauntlet/splits';
import { Option } from 'commander';
import { benchCommand } from '../../bench-command.ts';
import { networkNamed } from '../../product/networks.ts';
import { partsOf } from '../../product/run-product.ts';
import type { EmulatedPlan } from './run-emulated.ts';

const NETWORKS = [
  'cable',
  'lossy',
  'lte',
  'wifi-bursty',
  'udp-policed',
  'udp-blocked',
  'cable>udp-policed',
  'udp-policed>cable',
];

interface Options extends EmulatedPlan {
  json: boolean;
}

/** @throws CommanderError after commander has written one line; UserError for an unknown network */
export function parseOptions(argv: string[]): Options {
  const command = benchCommand(
    'loop-emulated',
    "Has the extension's autopilot act on emulated loads of drawn pages, beside the browser's own choice and fixed protocols.",
  )
    .addOption(new Option('--split <name>', 'whose pages').choices(SPLITS).default('validation'))
    .option('--seed <n>', 'of pages, networks and losses', integer(0, 10_000), 1)
    .option('--pages <n>', 'drawn pages', integer(1, 100), 6)
    .option('--loads <n>', 'of each page', integer(2, 1_000), 60)
    .option(
      '--networks <names>',
      'of lab/networks.json, or far; a>b replaces the network, unnoticed, halfway through the loads of each page',
      list,
      NETWORKS,
    )
    .option('--explores', 'allow trials', false)
    .option('--json', 'print the figures as JSON and nothing else', false);
  unifyErrors(command);
  const options = command.parse(argv, { from: 'user' }).opts<Options>();
  for (const name of options.networks.flatMap(partsOf)) checkNetwork(name);
  return options;
}

function checkNetwork(name: string): void {
  try {
    networkNamed(name);
  } catch (error) {
    throw new UserError(`--networks: ${messageOf(error)}`, 2);
  }
}
