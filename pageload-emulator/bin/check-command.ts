import {
  type Budget,
  checkPage,
  EmulationError,
  InputError,
  judgeFigures,
  limitsOn,
  type NamedNetwork,
  parseBudget,
  type Recording,
  unjudgedLimits,
} from '@hopwise/pageload-emulator';
import type { Command } from 'commander';
import { type CheckBaseline, changeOf, isSameRow, parseBaseline } from './check-baseline.ts';
import { shortNames } from './file-names.ts';
import { chooseNetworks, type NetworkChoice, withNetworkChoice } from './network-choice.ts';
import { print, toJson } from './output.ts';
import { readNamed, shownName } from './read-input.ts';
import { refuse } from './refuse.ts';
import { whyMisunderstood } from './show.ts';
import { type CheckRow, githubCheck, isFailed, markdownCheck, showCheck } from './show-check.ts';
import { readParsed, writeText } from './text-files.ts';

/** Exit code for pages that are over their budget, or slower than they were. */
const OVER_BUDGET = 1;
/** Version of the form of the JSON. */
export const CHECK_SCHEMA = 1;

interface CheckFlags extends NetworkChoice {
  budget?: string;
  baseline?: string;
  markdown?: string;
  junit?: string;
  github?: boolean;
  json?: boolean;
}

/** Adds the command that judges pages by a budget. */
export function addCheckCommand(program: Command): void {
  withNetworkChoice(
    program
      .command('check')
      .description('judge pages by a budget on the networks of their visitors, for CI')
      .argument('<files...>', 'recorded pages'),
    '',
  )
    .option(
      '--budget <file>',
      'limits: loadTimeMs, firstPaintMs, largestPaintMs, gainLeft (at most), originsOnBest (at least)',
    )
    .option('--baseline <file>', 'an earlier answer with --json: says what changed by more than the noise')
    .option('--markdown <file>', 'also writes the table as Markdown')
    .option('--junit <file>', 'also writes the figures as test cases (JUnit XML)')
    .option('--github', 'also prints each breach as an annotation of GitHub Actions')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Load and paints are those of the browser without hopwise, predicted, in the median of its loads. A paint that a recording
does not show, as those of DevTools do not, is not judged.

Without --budget and --baseline the figures are printed, and nothing is judged.

networks.json  {"lte": {"rttMs": 70, "downMbps": 12, "upMbps": 12, "loss": 0.001}}
budget.json    {"loadTimeMs": 4000, "firstPaintMs": 2000, "originsOnBest": 0.8, "gainLeft": 0.1,
                "networks": {"3g": {"loadTimeMs": 12000}}}

Exit code: 0 within the budget, 1 with a line for each breach, 2 for input that cannot be used: the other files are judged
nevertheless.

Examples:
  hopwise check pages/*.har --network lte,3g --budget budget.json
  hopwise check home.har --networks networks.json --budget budget.json --junit check.xml --markdown check.md
  hopwise check pages/*.har --network lte --json > last.json
  hopwise check pages/*.har --network lte --baseline last.json`,
    )
    .action(async (files: string[], flags: CheckFlags, command: Command) => {
      const judges = flags.budget !== undefined || flags.baseline !== undefined;
      if (!judges && (flags.github || flags.junit !== undefined || flags.markdown !== undefined)) {
        command.error('error: expected --budget, --baseline, or both: a report is of what was judged');
      }
      if (flags.github && flags.json) command.error('error: --github does not go with --json');
      const networks = await chooseNetworks(flags);
      if (networks === null) command.error('error: expected --network, --networks, or both');
      const { known, chosen } = networks;
      const budget =
        flags.budget === undefined ? {} : await readParsed(flags.budget, (text) => parseBudget(text, known));
      const baseline = flags.baseline === undefined ? [] : await readParsed(flags.baseline, parseBaseline);
      const judged =
        judges && flags.baseline === undefined ? chosen.filter(({ name }) => hasLimit(budget, name)) : chosen;
      if (judged.length === 0) {
        throw new InputError(
          `${flags.budget}: expected a limit on ${chosen.map(({ name }) => name).join(' or ')}, got none`,
        );
      }
      const names = shortNames(files);
      const rows: CheckRow[] = [];
      for (const [index, file] of files.entries()) {
        try {
          const { recording } = await readNamed(file);
          rows.push(...checksOf(recording, { file, name: names[index]! }, judged, budget, baseline));
        } catch (error) {
          // The others are judged nevertheless, and the check fails.
          if (!(error instanceof InputError) || files.length === 1) throw error;
          refuse(error);
        }
      }
      if (rows.length === 0) return;
      const isJudged = ({ judgements, change }: CheckRow) => judgements.length > 0 || change !== null;
      if (judges && !rows.some(isJudged)) throw nothingJudged(rows, flags);
      const gone = baseline.filter((before) => !rows.some((row) => isSameRow(row, before)));
      if (flags.markdown !== undefined) await writeText(flags.markdown, markdownCheck(rows, gone));
      if (flags.junit !== undefined) {
        // Its library takes as long to load as a fifth of each command's start.
        const { junitOf } = await import('./check-junit.ts');
        await writeText(flags.junit, junitOf(rows));
      }
      print(flags.json ? toJson(answerOf(rows)) : showCheck(rows, gone));
      if (flags.github) process.stdout.write(githubCheck(rows));
      if (rows.some(isFailed)) process.exitCode ??= OVER_BUDGET;
    });
}

const hasLimit = (budget: Budget, network: string): boolean =>
  Object.values(limitsOn(budget, network)).some((limit) => limit !== undefined);

/** A run that judges nothing must not look like one that is within the budget. */
function nothingJudged(rows: readonly CheckRow[], { budget, baseline }: CheckFlags): InputError {
  if (rows.some(({ unjudged }) => unjudged.length > 0)) {
    return new InputError(
      `${budget}: expected a limit that can be judged, got only limits of paints, which the recordings do not show`,
    );
  }
  return new InputError(`${baseline}: expected a page and network of this check among its pages, got none`);
}

/** @throws InputError where the page does not load */
function checksOf(
  recording: Recording,
  { file, name }: { file: string; name: string },
  networks: readonly NamedNetwork[],
  budget: Budget,
  baseline: CheckBaseline,
): CheckRow[] {
  return networks.map((network) => {
    const limits = limitsOn(budget, network.name);
    try {
      const { prediction, ...figures } = checkPage(recording, network.path);
      const { requests, bytes } = prediction.page;
      const row = { file, name, network: network.name, requests, bytes, ...figures };
      return {
        ...row,
        misunderstood: whyMisunderstood(prediction.fit),
        judgements: judgeFigures(figures, limits),
        unjudged: unjudgedLimits(figures, limits),
        change: changeOf(row, baseline),
      };
    } catch (error) {
      if (!(error instanceof EmulationError)) throw error;
      throw new InputError(`${shownName(file)}: on ${network.name}: ${error.message}`);
    }
  });
}

function answerOf(rows: readonly CheckRow[]): object {
  return {
    schema: CHECK_SCHEMA,
    breaches: rows.flatMap(({ judgements }) => judgements).filter(({ isBreach }) => isBreach).length,
    slower: rows.filter(({ change }) => change?.verdict === 'slower').length,
    pages: rows.map(({ name: _name, ...row }) => row),
  };
}
