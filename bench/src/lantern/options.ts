import { unifyErrors } from '@hopwise/contract/command-line';
import { Command } from 'commander';

/** Parsed options of `npm run bench -- lantern`. */
interface LanternOptions {
  /** Folder of HAR files; the pages of the golden set unless given. */
  recordings?: string;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): LanternOptions {
  const command = new Command()
    .name('npm run bench -- lantern')
    .description("Compares the time of emulations with Lantern's on recorded pages.")
    .option(
      '--recordings <dir>',
      'folder of HAR files, plain or gzipped; default: the pages of the golden set',
    )
    .option('--json', 'print the comparison with Lantern as JSON', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return command.opts<LanternOptions>();
}
