import { resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { networkOf, profileNamed, readProfiles } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { integer, list, number, someOf } from '@hopwise/lab/command/option-types';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { Progress } from '@hopwise/lab/command/progress';
import { Command, Option } from 'commander';
import {
  CONGESTION_CONTROLS,
  collectPcwnd,
  type PcwndCongestionControl,
  type PcwndMeasurement,
  SAMPLERS,
  type Sampler,
} from './collect.ts';
import { difference, fileStem, findPcwnd, type PcwndSettings, writePcwnd } from './files.ts';

interface Options {
  network: string[];
  cc: PcwndCongestionControl[];
  connections: number[];
  seconds: number;
  seed: number;
  sampler: Sampler;
  out: string;
  force: boolean;
}

/** Time of a measurement besides its transfer. */
const OVERHEAD_SECONDS = 1;

/**
 * `pcwnd`: measures loss by congestion window, p(cwnd, npc) of ECON, for every network, congestion control and
 * number of connections. Existing measurements are kept.
 */
export function pcwndCommand({ signal }: { signal?: AbortSignal } = {}): Command {
  return new Command('pcwnd')
    .description(
      'measure loss by congestion window, p(cwnd, npc) of ECON, at the senders of bulk transfers in the lab; existing measurements are kept',
    )
    .requiredOption('--network <list>', 'link profiles of lab/networks.json, or all', list)
    .option('--cc <list>', CONGESTION_CONTROLS.join(', '), someOf(CONGESTION_CONTROLS), ['cubic'])
    .option('--connections <list>', 'numbers of parallel connections', integers, [1, 2, 4, 6, 10])
    .option('--seconds <s>', 'length of each transfer', number(1, 86_400, 'seconds'), 60)
    .option('--seed <n>', 'seed of the losses', integer(0, 2 ** 31), 1)
    .addOption(
      new Option(
        '--sampler <name>',
        'tcp_probe traces the kernel (as root; otherwise it falls back to tcp_info), tcp_info polls TCP_INFO',
      )
        .choices(SAMPLERS)
        .default('tcp_probe'),
    )
    .requiredOption('--out <dir>', 'folder of the files')
    .option('--force', 'repeat existing measurements', false)
    .exitOverride()
    .action((options: Options) => measureAll(options, signal));
}

async function measureAll(options: Options, signal: AbortSignal | undefined): Promise<void> {
  const wanted = settingsOf(options);
  await makeOutputFolder(options.out);
  const dir = resolve(options.out);
  const unlock = await lockFolder(dir);
  try {
    const missing = options.force ? wanted : await missingOf(dir, wanted);
    await measureMissing(dir, missing, wanted.length, signal);
  } finally {
    await unlock();
  }
}

/** @throws UserError naming the unknown network */
function settingsOf(options: Options): PcwndSettings[] {
  let profiles: ReturnType<typeof readProfiles>;
  try {
    profiles = readProfiles();
    for (const name of options.network) if (name !== 'all') profileNamed(name, profiles);
  } catch (error) {
    throw new UserError(firstLine(error), 2);
  }
  const names = options.network.includes('all') ? Object.keys(profiles) : options.network;
  return names.flatMap((name) =>
    options.cc.flatMap((congestionControl) =>
      options.connections.map((connections) => ({
        name,
        network: networkOf(profileNamed(name, profiles), options.seed),
        congestionControl,
        connections,
        seconds: options.seconds,
        sampler: options.sampler,
      })),
    ),
  );
}

/** @throws UserError for files of other settings, before anything is measured */
async function missingOf(dir: string, wanted: readonly PcwndSettings[]): Promise<PcwndSettings[]> {
  const missing: PcwndSettings[] = [];
  for (const settings of wanted) {
    const found = await findPcwnd(dir, settings);
    if (found.kind === 'none') {
      missing.push(settings);
      continue;
    }
    const other = found.kind === 'whole' ? difference(found.file.settings, settings) : null;
    const trouble =
      found.kind === 'unreadable'
        ? found.reason
        : other && `${fileStem(settings)} was measured with ${other}`;
    if (trouble !== null) {
      throw new UserError(`${dir}: ${trouble}: choose another --out, or measure again with --force`, 2);
    }
  }
  return missing;
}

async function measureMissing(
  dir: string,
  missing: readonly PcwndSettings[],
  all: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const progress = new Progress();
  if (missing.length < all) progress.step(`${all - missing.length} of ${all} exist already`);
  let fallback: string | undefined;
  for (const [index, settings] of missing.entries()) {
    const left = missing.slice(index).reduce((sum, { seconds }) => sum + seconds + OVERHEAD_SECONDS, 0);
    progress.step(`${fileStem(settings)} (${index + 1} of ${missing.length}, ${duration(left)} left)`);
    const measured = await collectPcwnd({
      ...settings,
      onProgress: ({ seconds, rounds, lossEvents }) =>
        progress.detail(
          `${seconds.toFixed(0)} of ${settings.seconds} s: ${rounds} rounds, ${lossEvents} loss events`,
        ),
      ...(signal && { signal }),
    });
    if (measured.windows.length === 0) {
      throw new UserError(
        `${fileStem(settings)}: no round was acknowledged in ${settings.seconds} s: expected more --seconds`,
        2,
      );
    }
    if (measured.reason !== undefined && measured.reason !== fallback) {
      fallback = measured.reason;
      progress.step(`tcp_probe is unavailable (${fallback}): polling TCP_INFO instead`);
    }
    await writePcwnd(dir, {
      format: 'hopwise-pcwnd',
      version: 1,
      at: new Date().toISOString(),
      settings,
      ...measured,
    });
    process.stdout.write(`${fileStem(settings)}: ${summary(measured)}\n`);
  }
}

function summary({ windows, lostSamples, sampler }: PcwndMeasurement): string {
  const rounds = windows.reduce((sum, window) => sum + window.rounds, 0);
  const events = windows.reduce((sum, window) => sum + window.lossEvents, 0);
  const range = `windows of ${windows[0]!.cwnd} to ${windows.at(-1)!.cwnd} segments`;
  const lost = lostSamples > 0 ? `, ${lostSamples} samples lost` : '';
  return `${rounds} rounds, ${events} loss events, ${range}, by ${sampler}${lost}`;
}

function duration(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}

function integers(text: string): number[] {
  return list(text).map(integer(1, 100, 'whole numbers'));
}
