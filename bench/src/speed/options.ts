import { Command } from 'commander';

/** What the command line of `npm run bench` asks for. */
export interface SpeedOptions {
  /** Folder of recordings. */
  recordings: string;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError when it cannot be used; commander has then written one line to stderr.
 */
export function parseOptions(argv: string[]): SpeedOptions {
  const command = new Command()
    .name('npm run bench --')
    .description('Times emulations by size, and beside Lantern on recorded pages.')
    .option('--recordings <dir>', 'folder of HAR files, plain or gzipped', '../shared/data/har')
    .option('--json', 'print the comparison with Lantern as JSON', false)
    .showHelpAfterError('(see npm run bench -- --help)')
    .exitOverride()
    .parse(argv, { from: 'user' });
  return command.opts<SpeedOptions>();
}
