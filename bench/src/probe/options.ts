import { unifyErrors } from '@hopwise/contract/command-line';
import { integer } from '@hopwise/lab/command/option-types';
import { PAGE_FORMS } from '@hopwise/lab/pages/page-source';
import { Command } from 'commander';

/** Parsed options of `npm run bench -- probe`. */
export interface ProbeBenchOptions {
  page: string;
  cells: number;
  seed: number;
  rounds: number;
  /** Folder of the probes. */
  out: string;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): ProbeBenchOptions {
  const command = new Command()
    .name('npm run bench -- probe')
    .description(
      "Probes a page on networks drawn at random, and compares the loss, its bursts and UDP's rate with the link's. Probes are kept: the same command continues an interrupted run.",
    )
    .option('--page <page>', PAGE_FORMS, 'web-p25')
    .option('--cells <n>', 'networks', integer(1, 1000), 40)
    .option('--seed <n>', 'of the networks', integer(0, 1_000_000), 1)
    .option('--rounds <n>', 'rounds under each protocol; a probe makes one by default', integer(1, 20), 1)
    .option('--out <dir>', 'folder of the probes', 'out/probe')
    .option('--json', 'print the comparisons as JSON and nothing else', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return command.opts<ProbeBenchOptions>();
}
