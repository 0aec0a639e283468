import { printable } from '@hopwise/contract/terminal';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { Command } from 'commander';
import { labObstacle } from '../client/lab.ts';
import { UserError } from '../command/errors.ts';
import { number, someOf } from '../command/option-types.ts';
import type { ProgramContext } from '../command/program.ts';
import { isFaithful, type ReplayCheck, WANTED_SHARE } from '../replay/check-replay.ts';
import { checkPage, type PageCheckResult } from './check-page.ts';
import { PAGE_FORMS } from './page-source.ts';

/** Characters of a line with text of a page. */
const MAX_LINE = 300;

interface Options {
  protocols: Protocol[];
  timeout: number;
  json?: true;
  verbose?: true;
}

/** `check PAGE…`: loads replays in the lab and prints how many of the recorded requests they repeat. */
export function checkCommand(context: Pick<ProgramContext, 'say' | 'signal' | 'useScratch'>): Command {
  return new Command('check')
    .exitOverride()
    .description(
      'loads replays of pages in the lab and prints how many of the recorded requests each repeats',
    )
    .argument('<page...>', PAGE_FORMS)
    .option('--protocols <list>', 'some of h1, h2, h3, separated by commas', someOf(PROTOCOLS), [
      ...PROTOCOLS,
    ])
    .option('--timeout <seconds>', 'time limit of a load', number(1, 3600, 'seconds'), 120)
    .option('--json', 'one line of JSON for each page, with URLs')
    .option('--verbose', 'lists URLs that were not requested again, extra ones and missing ones')
    .action((pages: string[], options: Options) => checkAll(pages, options, context));
}

async function checkAll(
  pages: string[],
  options: Options,
  { signal, say, useScratch }: Pick<ProgramContext, 'say' | 'signal' | 'useScratch'>,
): Promise<void> {
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  await useScratch();
  let poor = 0;
  let unusable = 0;
  let isHeaded = options.json === true;
  for (const page of pages) {
    const check = await refusedInOneLine(page, options, signal, say);
    if (check === null) {
      unusable++;
      continue;
    }
    if (!isHeaded) process.stdout.write(`${HEADINGS}\n`);
    isHeaded = true;
    process.stdout.write(`${options.json ? JSON.stringify(check) : rows(check, options)}\n`);
    if (!check.loads.every(isFaithful)) poor++;
  }
  if (poor > 0) {
    process.stderr.write(
      `${poor} of ${pages.length} do not repeat ${100 * WANTED_SHARE}% of their requests, without misses, under every protocol\n`,
    );
    process.exitCode = 1;
  }
  if (unusable > 0) process.exitCode = 2;
}

/** One unusable page does not prevent checking the others. */
async function refusedInOneLine(
  page: string,
  { protocols, timeout }: Options,
  signal: AbortSignal,
  say: ProgramContext['say'],
): Promise<PageCheckResult | null> {
  try {
    return await checkPage(page, { protocols, timeoutMs: timeout * 1000, signal });
  } catch (error) {
    if (!(error instanceof UserError) || error.exitCode !== 2 || signal.aborted) throw error;
    say(error.message);
    return null;
  }
}

const COLUMNS = [32, 9, 8, 8, 9, 9, 7, 6, 7, 7, 9] as const;
const line = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[index] ?? 8)))
    .join(' ');

const HEADINGS = line([
  'page',
  'requests',
  'origins',
  'skipped',
  'fixed ms',
  'protocol',
  'again',
  'extra',
  'misses',
  'failed',
  'PLT ms',
]);

function rows(
  { page, requests, origins, recording, notOffered, loads }: PageCheckResult,
  options: Options,
): string {
  const name = page.split('/').findLast((part) => part !== '') ?? page;
  const facts = [
    name.slice(0, COLUMNS[0]),
    String(requests),
    String(origins),
    recording ? String(recording.skipped) : '',
    recording ? String(recording.fixedMs) : '',
  ];
  const recordedPlt = recording?.pltMs == null ? '—' : String(Math.round(recording.pltMs));
  const first = line(recording ? [...facts, 'recorded', '', '', '', '', recordedPlt] : facts).trimEnd();
  const skipped = notOffered.map((protocol) => `${inColumn(protocol)} not every origin offers it`);
  return [first, ...loads.flatMap((load) => rowsOf(load, options)), ...skipped].join('\n');
}

const inColumn = (protocol: Protocol): string => line(['', '', '', '', '', protocol]);

function rowsOf(load: ReplayCheck, { verbose }: Options): string[] {
  const counts = [load.extra, load.misses, load.failed].map(({ length }) => String(length));
  const plt = load.pltMs === null ? '—' : String(Math.round(load.pltMs));
  const cells = ['', '', '', '', '', load.protocol, `${(100 * load.share).toFixed(1)}%`, ...counts, plt];
  const row = load.failure === null ? line(cells) : `${line(cells)} ${load.failure}`;
  if (!verbose) return [row];
  const more = [
    ...load.missing.map((url) => `  not again: ${url}`),
    ...load.extra.map((url) => `  extra: ${url}`),
    ...load.misses.map(({ method, url, count }) => `  missing: ${method} ${url} (${count}×)`),
    ...load.failed.map(({ url, reason }) => `  failed: ${url}: ${reason}`),
  ];
  return [row, ...more.map((line) => printable(line, MAX_LINE))];
}
