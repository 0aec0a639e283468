import { unifyErrors } from '@hopwise/contract/command-line';
import { integer, list } from '@hopwise/lab/command/option-types';
import { Command } from 'commander';

/** Parsed options of `npm run bench -- accuracy`. */
type AccuracyOptions = BenchOptions | GoldenOptions | RowsOptions;

export interface BenchOptions {
  command: 'bench';
  /** Folder of measured loads. */
  dir: string;
  /** Output folder for accuracy.json and the plots. */
  out: string;
  json: boolean;
  /** Judges what is read out of recordings under each protocol, besides the predictions. */
  readings: boolean;
  pages?: string[];
  networks?: string[];
}

export interface GoldenOptions {
  command: 'golden';
  /** Folder of measured loads to make the golden set from; null to judge the one there is. */
  from: string | null;
  dir: string;
  /** Recorded natural loads to keep of each cell. */
  recordings: number;
  accept: boolean;
}

export interface RowsOptions {
  command: 'rows';
  /** Folder of measured loads. */
  dir: string;
  /** File of the rows. */
  file: string;
}

export const GOLDEN_DIR = 'bench/golden';

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): AccuracyOptions {
  let parsed: AccuracyOptions | undefined;
  const command = new Command()
    .name('npm run bench -- accuracy')
    .description('Judges predictions of page load times by measured ones.')
    .argument('<dir>', 'folder of measured loads, as npm run lab writes it')
    .option('--out <dir>', 'output folder for accuracy.json and the plots', 'out/accuracy')
    .option('--json', 'print accuracy.json and nothing else', false)
    .option(
      '--readings',
      'also judge what is read out of recordings under each protocol; folders of the gauntlet always are',
      false,
    )
    .option('--pages <names>', 'only these pages, separated by commas', list)
    .option('--networks <names>', 'only these networks, separated by commas', list)
    .exitOverride()
    .action((dir: string, { out, json, readings, pages, networks }) => {
      parsed = {
        command: 'bench',
        dir,
        out,
        json,
        readings,
        ...(pages && { pages }),
        ...(networks && { networks }),
      };
    });
  command
    .command('golden')
    .description(
      'Judges the golden set and compares with the accepted figures (exit code 1 when worse); with a folder, makes the set from it.',
    )
    .argument('[from]', 'folder of measured loads of the project’s own pages')
    .option('--dir <dir>', 'the golden set', GOLDEN_DIR)
    .option(
      '--recordings <n>',
      'number of natural loads to predict from, for each page and network',
      integer(1, 20),
      1,
    )
    .option('--accept', 'write the figures as the accepted ones', false)
    .exitOverride()
    .action((from: string | undefined, { dir, recordings: kept, accept }) => {
      parsed = { command: 'golden', from: from ?? null, dir, recordings: kept, accept };
    });
  command
    .command('rows')
    .description('Writes predictions beside measured load times as JSON lines, for npm run model -- stack.')
    .argument('<dir>', 'folder of measured loads')
    .argument('<file>', 'file of the rows')
    .exitOverride()
    .action((dir: string, file: string) => {
      parsed = { command: 'rows', dir, file };
    });
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return parsed as AccuracyOptions;
}
