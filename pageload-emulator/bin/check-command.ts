import {
  type Budget,
  checkPage,
  EmulationError,
  InputError,
  judgeFigures,
  limitsOn,
  type NamedNetwork,
  parseBudget,
  parseNetworks,
  type Recording,
} from '@hopwise/pageload-emulator';
import type { Command } from 'commander';
import { junitOf } from './check-junit.ts';
import { shortNames } from './file-names.ts';
import { readNamed, shownName } from './read-input.ts';
import { type CheckRow, markdownCheck, showCheck } from './show-check.ts';
import { readParsed, writeText } from './text-files.ts';

/** Exit code for pages that are over their budget. */
const OVER_BUDGET = 1;

interface CheckFlags {
  networks: string;
  budget: string;
  markdown?: string;
  junit?: string;
  json?: boolean;
}

/** Adds the command that judges pages by a budget. */
export function addCheckCommand(program: Command, print: (text: string) => void): void {
  program
    .command('check')
    .description('judge pages by a budget on the networks of their visitors, for CI')
    .argument('<files...>', 'recorded pages')
    .requiredOption('--networks <file>', "networks by name, in the form of the lab's networks.json")
    .requiredOption(
      '--budget <file>',
      'limits: loadTimeMs, firstPaintMs, gainLeft (at most), originsOnBest (at least)',
    )
    .option('--markdown <file>', 'also writes the table as Markdown')
    .option('--junit <file>', 'also writes the figures as test cases (JUnit XML)')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Load and first paint are those of the browser without hopwise, predicted, in the median of its loads.

networks.json  {"lte": {"rttMs": 70, "downMbps": 12, "upMbps": 12, "loss": 0.001}}
budget.json    {"loadTimeMs": 4000, "firstPaintMs": 2000, "originsOnBest": 0.8, "gainLeft": 0.1,
                "networks": {"3g": {"loadTimeMs": 12000}}}

Exit code: 0 within the budget, 1 with a line for each breach, 2 for input that cannot be used.

Examples:
  hopwise check pages/*.har --networks networks.json --budget budget.json
  hopwise check home.har --networks networks.json --budget budget.json --junit check.xml --markdown check.md`,
    )
    .action(async (files: string[], flags: CheckFlags) => {
      const networks = await readParsed(flags.networks, parseNetworks);
      const budget = await readParsed(flags.budget, (text) => parseBudget(text, networks));
      const names = shortNames(files);
      const rows: CheckRow[] = [];
      for (const [index, file] of files.entries()) {
        const { recording } = await readNamed(file);
        rows.push(...checksOf(recording, { file, name: names[index]! }, networks, budget));
      }
      if (flags.markdown !== undefined) await writeText(flags.markdown, markdownCheck(rows));
      if (flags.junit !== undefined) await writeText(flags.junit, junitOf(rows));
      print(flags.json ? JSON.stringify(answerOf(rows), null, 1) : showCheck(rows));
      if (rows.some(({ judgements }) => judgements.some(({ isBreach }) => isBreach))) {
        process.exitCode = OVER_BUDGET;
      }
    });
}

/** @throws InputError where the page has no figure for a limit, or does not load */
function checksOf(
  recording: Recording,
  { file, name }: { file: string; name: string },
  networks: readonly NamedNetwork[],
  budget: Budget,
): CheckRow[] {
  return networks.flatMap((network) => {
    const limits = limitsOn(budget, network.name);
    if (Object.keys(limits).length === 0) return [];
    try {
      const { prediction: _prediction, ...figures } = checkPage(recording, network.path);
      if (limits.firstPaintMs !== undefined && figures.firstPaintMs === null) {
        throw new InputError(
          `${shownName(file)}: first paint: expected one for the budget's firstPaintMs, the recording has none`,
        );
      }
      return [{ file, name, network: network.name, ...figures, judgements: judgeFigures(figures, limits) }];
    } catch (error) {
      if (!(error instanceof EmulationError)) throw error;
      throw new InputError(`${shownName(file)}: on ${network.name}: ${error.message}`);
    }
  });
}

function answerOf(rows: readonly CheckRow[]): object {
  return {
    breaches: rows.flatMap(({ judgements }) => judgements).filter(({ isBreach }) => isBreach).length,
    pages: rows.map(({ name: _name, ...row }) => row),
  };
}
