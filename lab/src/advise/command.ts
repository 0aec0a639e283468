import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { Command } from 'commander';
import { browserProgram } from '../browser/browser-program.ts';
import { Lab, labObstacle } from '../client/lab.ts';
import { networkOf, profileNamed } from '../client/networks.ts';
import { serverOption } from '../client/server-option.ts';
import type { ServerStack } from '../client/server-stack.ts';
import { UserError } from '../command/errors.ts';
import { integer, list, someOf } from '../command/option-types.ts';
import type { ProgramContext } from '../command/program.ts';
import { MeasuringBrowser } from '../loads/measuring-browser.ts';
import { openPage, PAGE_FORMS, type PageSource } from '../pages/page-source.ts';
import { writeSite } from '../sites/write-site.ts';
import { readCell, writeCell } from './cell-file.ts';
import { asMeasuredGain, judgeCell, summariseKinds } from './judge-advice.ts';
import { type AdviceCell, type CellOptions, measureCell } from './measure-cell.ts';
import { prepareRecordBrowser, type RecordBrowser } from './record-browser.ts';
import { setUpsFor, TESTABLE, type TestableAdvice, testableOn } from './set-ups.ts';
import { showJudged, showSummary } from './show-judged.ts';
import { readSiteFiles, redirectToEntry } from './site-changes.ts';
import { writeProofs } from './write-proofs.ts';

interface Options {
  networks: string[];
  kinds?: TestableAdvice[];
  server: ServerStack;
  loads: number;
  timeout: number;
  keepDisturbed?: true;
  out?: string;
  write?: true;
  json?: true;
}

/** `advise PAGE…`: what advice to those who run servers gains in real loads, beside what it promises. */
export function adviseCommand(context: ProgramContext): Command {
  return new Command('advise')
    .exitOverride()
    .description(
      'loads pages before and after the advice of hopwise advise is followed, and compares gains with promises',
    )
    .argument('<page...>', PAGE_FORMS)
    .option('--networks <list>', 'link profiles of lab/networks.json', list, ['cable'])
    .option(
      '--kinds <list>',
      `some of ${TESTABLE.join(', ')}; all that the servers can follow by default`,
      someOf(TESTABLE),
    )
    .addOption(serverOption())
    .option('--loads <n>', 'loads before, and with each advice', integer(1, 1000), 9)
    .option('--timeout <s>', 'time limit for the load event', integer(1, 600), 60)
    .option(
      '--keep-disturbed',
      'counts loads that other work on the machine disturbed, instead of repeating them',
    )
    .option('--out <dir>', 'keeps the loads there, and goes on where a run into the same folder stopped')
    .option('--write', 'renews what hopwise advise goes by, and the tables of lab/docs/advise.md')
    .option('--json', 'as JSON')
    .action((pages: string[], options: Options) => advisePages(pages, options, context));
}

async function advisePages(pages: string[], options: Options, context: ProgramContext): Promise<void> {
  const profiles = options.networks.map((name) => ({ name, path: networkOf(profileOf(name)) }));
  const stack = options.server;
  const kinds = kindsFor(stack, options.kinds);
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  await context.useScratch();
  const cells: AdviceCell[] = [];
  for (const page of pages) {
    const source = await openPage(page, context.signal);
    const lab = new LazyLab(source, stack, context);
    for (const { name, path } of profiles) {
      const kept =
        options.out === undefined
          ? null
          : await readCell(resolve(options.out), { page: source.name, network: name, stack });
      if (kept !== null && isComplete(kept, kinds, options.loads)) {
        cells.push(kept);
        continue;
      }
      const cell = await measureCell({
        ...(await lab.open(path)),
        source,
        network: name,
        path,
        stack,
        kinds,
        loads: options.loads,
        timeoutMs: options.timeout * 1000,
        keepsDisturbed: options.keepDisturbed ?? false,
        scratch: tmpdir(),
        onProgress: context.say,
        signal: context.signal,
      });
      if (options.out !== undefined) await writeCell(resolve(options.out), cell);
      cells.push(cell);
    }
    await lab.close();
  }
  const judged = cells.flatMap((cell) => judgeCell(cell, kinds));
  if (options.write) await writeProofs(judged.map(asMeasuredGain));
  const summary = summariseKinds(judged);
  const text = options.json
    ? JSON.stringify({ cells: judged, kinds: summary }, null, 1)
    : `${showJudged(judged)}\n\n${showSummary(summary)}`;
  process.stdout.write(`${text}\n`);
}

/** @throws UserError for advice that servers of the stack cannot follow */
function kindsFor(stack: ServerStack, wanted: TestableAdvice[] | undefined): TestableAdvice[] {
  const possible = testableOn(stack);
  const impossible = wanted?.filter((kind) => !possible.includes(kind)) ?? [];
  if (impossible.length === 0) return wanted ?? possible;
  throw new UserError(
    `--kinds ${impossible.join(',')}: expected what nginx and quiche can follow: ${possible.join(', ')}`,
    2,
  );
}

/** Whether a kept cell has what is wanted. Advice that the page has no use for has no loads in any cell. */
function isComplete({ timesMs }: AdviceCell, kinds: readonly TestableAdvice[], loads: number): boolean {
  const optional = new Set(setUpsFor(TESTABLE.filter((kind) => PAGE_DEPENDENT.has(kind))));
  return setUpsFor(kinds).every((name) =>
    timesMs[name] === undefined ? optional.has(name) && name !== 'usual' : timesMs[name].length >= loads,
  );
}

const PAGE_DEPENDENT: ReadonlySet<TestableAdvice> = new Set(['compression', 'one-origin', 'preload']);

/** The lab and browsers for one page, brought up for its first cell that has to be measured. */
class LazyLab {
  readonly #source: PageSource;
  readonly #stack: ServerStack;
  readonly #context: ProgramContext;
  #opened: { lab: Lab; records: RecordBrowser; browsers: CellOptions['browsers'] } | null = null;

  constructor(source: PageSource, stack: ServerStack, context: ProgramContext) {
    this.#source = source;
    this.#stack = stack;
    this.#context = context;
  }

  async open(network: AdviceCell['path']) {
    if (this.#opened !== null) return this.#opened;
    const { signal, cleanup } = this.#context;
    const site = join(tmpdir(), 'all-origins');
    await writeSite(redirectToEntry(await readSiteFiles(this.#source.site, this.#source.dir)), site);
    const lab = await Lab.up({ site, network, stack: this.#stack, signal });
    cleanup.add('the lab', () => lab.down());
    const records = await prepareRecordBrowser(lab, join(tmpdir(), 'names'));
    cleanup.add('the name server', async () => records.stop());
    const launch = async (executablePath: string) => {
      const browser = await MeasuringBrowser.launch({
        executablePath,
        protocol: 'natural',
        caSpki: lab.caSpki,
        hosts: lab.hosts,
      });
      cleanup.add('Chromium', () => browser.close());
      return browser;
    };
    const browsers = {
      plain: await launch(await lab.wrapper(browserProgram('full'))),
      withRecords: await launch(records.executablePath),
    };
    this.#opened = { lab, records, browsers };
    return this.#opened;
  }

  async close(): Promise<void> {
    await this.#opened?.browsers.plain.close();
    await this.#opened?.browsers.withRecords.close();
    this.#opened?.records.stop();
    await this.#opened?.lab.down();
  }
}

function profileOf(name: string) {
  try {
    return profileNamed(name);
  } catch (error) {
    throw new UserError(firstLine(error), 2);
  }
}
