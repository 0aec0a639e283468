import { integer } from '@hopwise/lab/command/option-types';
import { Argument, Command } from 'commander';
import { type MeasureOptions, PAPERS, type Paper } from './claim.ts';

/** Parsed options of `npm run papers`. */
export interface PapersOptions extends MeasureOptions {
  paper?: Paper;
  json: boolean;
  /** Measures only the claims whose names begin so. */
  claims?: string;
  /** File for the results as Markdown. */
  write?: string;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): PapersOptions {
  const command = new Command()
    .name('npm run papers --')
    .description(
      'Judges figures of the papers by the kernel, in the lab, and by the data that the authors released.',
    )
    .addArgument(new Argument('[paper]', 'one paper alone').choices(PAPERS))
    .option(
      '--data <dir>',
      'folder with econ-pcwnd/ and wisetrans/, as released; without it their claims are not run',
    )
    .option('--claims <begin>', 'only the claims whose names begin so')
    .option('--keep <dir>', 'folder for the rounds of `blitz`, from which a later run continues')
    .option('--quick', 'without the lab, in at most two minutes', false)
    .option('--seed <n>', 'of folds and losses', integer(0, 10_000), 1)
    .option('--write <file>', 'also write the results as Markdown')
    .option('--json', 'print the results as JSON and nothing else', false)
    .showHelpAfterError('(see npm run papers -- --help)')
    .exitOverride();
  command.parse(argv, { from: 'user' });
  return { ...command.opts(), paper: command.processedArgs[0] };
}
