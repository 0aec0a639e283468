import { integer, list, number, someOf } from '@hopwise/lab/command/option-types';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { Argument, Command, Option } from 'commander';
import { type ClaimOptions, PAPERS, type Paper } from './claim.ts';

/** Parsed options of `npm run research -- papers`. */
export interface PapersOptions extends ClaimOptions {
  paper?: Paper;
  /** Claims by their ids; all when absent. */
  only?: string[];
  json: boolean;
  /** File for the results as Markdown. */
  write?: string;
}

/** The subcommand with its options, and without an action. */
export function papersCommandWithOptions(): Command {
  return new Command('papers')
    .description(
      'judge figures of the papers by the kernel, in the lab, and by the data that the authors released',
    )
    .addArgument(new Argument('[paper]', 'one paper alone').choices(PAPERS))
    .option(
      '--data <dir>',
      'folder with econ-pcwnd/ and wisetrans/, as released, and har/ with index.csv; without it their claims are not run',
    )
    .option(
      '--only <ids>',
      'these claims alone, separated by commas; --write keeps the rows of the others',
      list,
    )
    .option('--quick', 'without the lab, in at most two minutes', false)
    .option('--seed <n>', 'of folds and losses', integer(0, 10_000), 1)
    .addOption(
      new Option(
        '--protocols <list>',
        'that recorded pages are loaded under: h1 and h2, which ECON chooses from, and h3',
      )
        .argParser(someOf(PROTOCOLS))
        .default([...PROTOCOLS], PROTOCOLS.join(',')),
    )
    .option(
      '--loads <n>',
      'of each recorded page under each protocol at each loss; the paper has 10',
      integer(1, 100),
      10,
    )
    .option(
      '--out <dir>',
      'folder of the loads of recorded pages and the flows of `blitz`; an existing one is continued',
      'out/papers',
    )
    .option(
      '--limit-minutes <n>',
      'start no load of a recorded page after this many minutes: the same command continues',
      number(0.1, 100_000, 'minutes'),
    )
    .option('--write <file>', 'also write the results as Markdown')
    .option('--json', 'print the results as JSON and nothing else', false)
    .exitOverride();
}

/** @throws CommanderError for options that do not fit together, after commander has written one line to stderr. */
export function papersOptions(command: Command): PapersOptions {
  const { limitMinutes, ...options } = command.opts();
  if (!options.protocols.includes('h1') || !options.protocols.includes('h2'))
    command.error('error: --protocols: expected h1 and h2 among them', { exitCode: 2 });
  return {
    ...(options as Omit<PapersOptions, 'paper' | 'limitMs'>),
    paper: command.processedArgs[0],
    ...(limitMinutes === undefined ? {} : { limitMs: 60_000 * limitMinutes }),
  };
}
