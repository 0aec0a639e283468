import type { Protocol } from '@hopwise/pageload-emulator';
import { Command, InvalidArgumentError } from 'commander';
import { UserError } from '../../start/errors.ts';
import { type CheckedLoad, checkReplay, type ReplayCheck, WANTED_SHARE } from './check-replay.ts';

export { checkReplay, type ReplayCheck, WANTED_SHARE } from './check-replay.ts';

interface Options {
  protocols: Protocol[];
  timeout: number;
  json?: true;
  verbose?: true;
}

/** `check FILE…`: loads the structure replay of recordings in the lab and compares what is requested. */
export function checkCommand({ signal }: { signal?: AbortSignal } = {}): Command {
  return new Command('check')
    .exitOverride()
    .description('loads structure replays of HARs in the lab and says how much of each is requested again')
    .argument('<file...>', 'HARs, plain or gzipped, or recordings')
    .option('--protocols <list>', 'of h1, h2, h3, with commas between', protocolList, ['h1', 'h2', 'h3'])
    .option('--timeout <seconds>', 'time that a load has', seconds, 120)
    .option('--json', 'one line of JSON a file, with the addresses')
    .option('--verbose', 'names what was not requested again')
    .action(async (files: string[], options: Options) => {
      let poor = 0;
      let unusable = 0;
      if (!options.json) process.stdout.write(`${HEADINGS}\n`);
      for (const file of files) {
        const check = await refusedInOneLine(file, options, signal);
        if (check === null) {
          unusable++;
          continue;
        }
        process.stdout.write(`${options.json ? JSON.stringify(check) : rows(check, options)}\n`);
        const loads = Object.values(check.loads);
        if (loads.some((load) => !load.ok || load.share < WANTED_SHARE)) poor++;
      }
      if (poor > 0) {
        process.stderr.write(
          `${poor} of ${files.length} do not request ${100 * WANTED_SHARE}% again under every protocol\n`,
        );
        process.exitCode = 1;
      }
      if (unusable > 0) process.exitCode = 2;
    });
}

/** One unusable file does not keep the others from being checked. */
async function refusedInOneLine(
  file: string,
  { protocols, timeout }: Options,
  signal: AbortSignal | undefined,
): Promise<ReplayCheck | null> {
  try {
    return await checkReplay(file, { protocols, timeoutMs: timeout * 1000, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (!(error instanceof UserError) || error.exitCode !== 2 || signal?.aborted) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}

const COLUMNS = [32, 9, 8, 8, 9, 9, 7, 6, 7, 7, 9] as const;
const line = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[index] ?? 8)))
    .join(' ');

const HEADINGS = line([
  'recording',
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

function rows(check: ReplayCheck, { verbose }: Options): string {
  const name = check.file.split('/').at(-1) ?? check.file;
  const facts = [
    name.slice(0, COLUMNS[0]),
    String(check.beforeLoad),
    String(check.origins),
    String(check.skipped),
    String(check.fixedMs),
  ];
  const recorded = check.recordedPltMs === null ? '—' : String(Math.round(check.recordedPltMs));
  const first = line([...facts, 'recorded', '', '', '', '', recorded]);
  const others = (Object.entries(check.loads) as [Protocol, CheckedLoad][]).flatMap(([protocol, load]) => {
    const start = ['', '', '', '', '', protocol];
    if (!load.ok) return [`${line(start)} ${load.reason}`];
    const counts = [load.extra, load.misses, load.failed].map(({ length }) => String(length));
    const row = line([
      ...start,
      `${(100 * load.share).toFixed(1)}%`,
      ...counts,
      String(Math.round(load.pltMs)),
    ]);
    return verbose ? [row, ...load.missing.map((url) => `  not again: ${url}`)] : [row];
  });
  return [first, ...others].join('\n');
}

function protocolList(value: string): Protocol[] {
  const names = value.split(',');
  const known = names.filter((name): name is Protocol => name === 'h1' || name === 'h2' || name === 'h3');
  if (known.length !== names.length)
    throw new InvalidArgumentError('expected h1, h2 or h3, with commas between');
  return [...new Set(known)];
}

function seconds(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number <= 3600))
    throw new InvalidArgumentError('expected seconds, above 0 and up to 3600');
  return number;
}
