import { unifyErrors } from '@hopwise/contract/command-line';
import { SPLITS, type Split } from '@hopwise/lab/gauntlet/splits';
import { Command, InvalidArgumentError, Option } from 'commander';

/** Parsed options of `npm run bench -- reading`. */
interface ReadingOptions {
  split: Split;
  seed: number;
  cells: number;
  /** Whether pages have some hundred requests. */
  heavy: boolean;
  uploads: boolean;
  json: boolean;
  /** Whether to judge the ranges of load times in place of what is read. */
  ranges: boolean;
  /** Whether to judge decisions in place of what is read. */
  decisions: boolean;
  /** Whether to judge the actions after several loads in place of what is read. */
  actions: boolean;
  /** File to write rows of `npm run model -- stack` to in place of judging; absent otherwise. */
  rows?: string;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): ReadingOptions {
  const command = new Command()
    .name('npm run bench -- reading')
    .description('Judges what is read from emulated loads of drawn pages, of which everything is known.')
    .addOption(new Option('--split <name>', 'whose pages and networks').choices(SPLITS).default('validation'))
    .option('--seed <number>', 'seed of pages and networks', positive, 1)
    .option('--cells <number>', 'number of pages on a network, two of each page', positive, 24)
    .option('--heavy', 'give pages 250 requests and more, to dozens of origins', false)
    .option('--uploads', 'give some requests bodies of 5 to 100 kB', false)
    .option('--ranges', 'judge the ranges of stated load times instead', false)
    .addOption(
      new Option('--decisions', 'judge what is decided, and whether rightly, instead')
        .default(false)
        .conflicts('ranges'),
    )
    .addOption(
      new Option(
        '--actions',
        'judge what is recommended after several loads, and what it truly gains, instead',
      )
        .default(false)
        .conflicts(['ranges', 'decisions']),
    )
    .addOption(
      new Option('--rows <file>', 'write rows for npm run model -- stack, and judge nothing').conflicts([
        'heavy',
        'ranges',
        'decisions',
        'actions',
        'json',
      ]),
    )
    .option('--json', 'print figures and readings as JSON', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return command.opts<ReadingOptions>();
}

function positive(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return number;
}
