import { unifyErrors } from '@hopwise/contract/command-line';
import { Command } from 'commander';

/** Parsed options of `npm run bench -- wild`. */
interface WildOptions {
  dir: string;
  files: boolean;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): WildOptions {
  const command = new Command()
    .name('npm run bench -- wild')
    .description("Judges predictions by the load times in other people's recordings.")
    .argument('<dir>', 'folder of HAR files, plain or gzipped, with an index.csv where there is one')
    .option('--files', 'also print a line for each file, the largest error first', false)
    .option('--json', 'print figures and files as JSON', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return { dir: command.args[0]!, ...command.opts<Omit<WildOptions, 'dir'>>() };
}
