import { tmpdir } from 'node:os';
import { ADVICE_WORDS } from '@hopwise/pageload-emulator';
import { Command } from 'commander';
import { browserProgram } from '../browser/browser-program.ts';
import { Lab, labObstacle } from '../client/lab.ts';
import { networkOf, profileNamed } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { integer } from '../command/option-types.ts';
import type { ProgramContext } from '../command/program.ts';
import { MeasuringBrowser } from '../loads/measuring-browser.ts';
import { table } from '../output/table.ts';
import { openPage, PAGE_FORMS } from '../pages/page-source.ts';
import { type MeasuredAdvice, measureAdvice } from './measure-advice.ts';

interface Options {
  network: string;
  loads: number;
  offersH3: boolean;
  timeout: number;
  json?: true;
}

/** `advise PAGE`: what advice to those who run servers gains in real loads, beside what is predicted. */
export function adviseCommand(context: ProgramContext): Command {
  return new Command('advise')
    .exitOverride()
    .description(
      'loads a page before and after the servers follow the advice of hopwise advise, and compares gains with predictions',
    )
    .argument('<page>', PAGE_FORMS)
    .option('--network <name>', 'link profile of lab/networks.json', 'lossy')
    .option('--loads <n>', 'loads before, and with each advice', integer(1, 1000), 9)
    .option('--offers-h3', 'the servers offer HTTP/3 before any advice', false)
    .option('--timeout <s>', 'time limit for the load event', integer(1, 600), 60)
    .option('--json', 'as JSON')
    .action((page: string, options: Options) => advisePage(page, options, context));
}

async function advisePage(page: string, options: Options, context: ProgramContext): Promise<void> {
  const { signal, cleanup } = context;
  const network = networkOf(profileOf(options.network));
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  await context.useScratch();
  const source = await openPage(page, signal);
  const lab = await Lab.up({ site: source.dir, network, signal });
  cleanup.add('the lab', () => lab.down());
  const browser = await MeasuringBrowser.launch({
    executablePath: await lab.wrapper(browserProgram('full')),
    protocol: 'natural',
    caSpki: lab.caSpki,
    hosts: lab.hosts,
  });
  cleanup.add('Chromium', () => browser.close());
  const measured = await measureAdvice({
    lab,
    browser,
    site: source.site,
    dir: source.dir,
    scratch: tmpdir(),
    network,
    offersH3: options.offersH3,
    loads: options.loads,
    timeoutMs: options.timeout * 1000,
    onProgress: context.say,
    signal,
  });
  process.stdout.write(
    `${options.json ? JSON.stringify(measured, null, 1) : showMeasuredAdvice(measured)}\n`,
  );
}

function profileOf(name: string) {
  try {
    return profileNamed(name);
  } catch (error) {
    throw new UserError((error as Error).message, 2);
  }
}

/** Gains in percent of the load time, and their difference in points. */
export function showMeasuredAdvice(measured: readonly MeasuredAdvice[]): string {
  return table(
    [
      ['advice', 'predicted', 'measured', 'low', 'high', 'difference'],
      ...measured.map(({ kind, predicted, measured: { gain, low, high } }) => [
        ADVICE_WORDS[kind],
        ...[predicted, gain, low, high].map(percent),
        (100 * (gain - predicted)).toFixed(1),
      ]),
    ],
    { numbers: true },
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
