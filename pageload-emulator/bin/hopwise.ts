#!/usr/bin/env node
import {
  buildGraph,
  EmulationError,
  estimateNetwork,
  explain,
  InputError,
  type NetworkCluster,
  type PredictOptions,
  predict,
  type ReadRecording,
  type Recording,
  type ServerChange,
} from '@hopwise/pageload-emulator';
import { Command, CommanderError } from 'commander';
import { ClusterFile } from './cluster-file.ts';
import { knownFrom, type NetworkFlags, numberBetween, serverChange, udpTreatment } from './options.ts';
import { readInput } from './read-input.ts';
import { showComparison, showGraph, showPrediction } from './show.ts';
import { showExplanation } from './show-explanation.ts';
import { printable } from './table.ts';

/** Input or arguments that cannot be used. */
const UNUSABLE = 2;

const program = new Command('hopwise')
  .description('Page load time under HTTP/1.1, HTTP/2 and HTTP/3, from a recording alone.')
  .exitOverride()
  .showHelpAfterError(false);

interface Flags extends NetworkFlags {
  json?: boolean;
  waterfall?: boolean;
  whatIf?: ServerChange;
  cluster?: string;
  learn?: boolean;
}

withWhatIf(
  withNetworkFlags(
    program
      .command('predict')
      .description('predict one page from a HAR or hopwise recording (- reads standard input)')
      .argument('<file>'),
  ),
)
  .option('--waterfall', 'with --json: what each request goes through under each protocol')
  .option(
    '--learn',
    'add what this load tells of the network to the --cluster file, and make it where there is none',
  )
  .action(async (file: string, flags: Flags, command: Command) => {
    if (flags.learn && flags.cluster === undefined) command.error('error: --learn needs a --cluster <file>');
    const { told, earlier } = await answer(file, flags, await openCluster(flags), predict);
    print(flags.json ? JSON.stringify(told, null, 1) : showPrediction(told, earlier));
  });

withWhatIf(
  withNetworkFlags(
    program
      .command('explain')
      .description('say why a page takes as long as it does under each protocol')
      .argument('<file>'),
  ),
).action(async (file: string, flags: Flags) => {
  const { told: explanation } = await answer(file, flags, await openCluster(flags), explain);
  print(flags.json ? JSON.stringify(explanation, null, 1) : showExplanation(explanation));
});

withNetworkFlags(
  program
    .command('compare')
    .description('the same as predict for many files, as a table')
    .argument('<files...>'),
)
  .option(
    '--learn',
    'the files are loads of one network, in order: each is predicted with what those before it told (and added to the --cluster file, if one is named)',
  )
  .action(async (files: string[], flags: Flags) => {
    const cluster = await openCluster(flags);
    const predictions = [];
    for (const file of files) {
      predictions.push({ file, prediction: (await answer(file, flags, cluster, predict)).told });
    }
    print(flags.json ? JSON.stringify(predictions, null, 1) : showComparison(predictions));
  });

program
  .command('graph')
  .description('show the page graph: what was fetched and computed, and what each waited for')
  .argument('<file>')
  .option('--json', 'as JSON')
  .action(async (file: string, flags: { json?: boolean }) => {
    const graph = buildGraph((await readNamed(file)).recording);
    print(flags.json ? JSON.stringify(graph, null, 1) : showGraph(graph));
  });

function withNetworkFlags(command: Command): Command {
  return command
    .option('--rtt <ms>', 'round trip without queueing', numberBetween(0, 60_000, 'milliseconds'))
    .option('--down <mbit>', 'downstream rate', numberBetween(0.01, 100_000, 'Mbit/s'))
    .option('--up <mbit>', 'upstream rate', numberBetween(0.01, 100_000, 'Mbit/s'))
    .option('--loss <fraction>', 'random loss per packet and direction', numberBetween(0, 0.5, 'a fraction'))
    .option('--queue <ms>', 'time that a full queue takes to drain', numberBetween(0, 60_000, 'milliseconds'))
    .option('--cluster <file>', 'what earlier loads on the same network told, as --learn keeps it')
    .option('--udp <treatment>', 'open, blocked, or the Mbit/s to which UDP is held', udpTreatment)
    .option('--json', 'as JSON');
}

function withWhatIf(command: Command): Command {
  return command.option(
    '--what-if <change>',
    "what changed servers would change: iw=32 (initial window, packets), cc=bbr (congestion control), start=20mbit or start=2x (begin at a rate, or at a multiple of the link's); can be repeated",
    serverChange,
  );
}

const openCluster = ({ cluster, learn }: Flags): Promise<ClusterFile> =>
  ClusterFile.open(cluster ?? null, learn === true);

/** @returns what was asked, and how many earlier loads it rests on */
async function answer<T>(
  file: string,
  flags: Flags,
  known: ClusterFile,
  ask: (recording: Recording, options: PredictOptions) => T,
): Promise<{ told: T; earlier: number }> {
  const { recording } = await readNamed(file);
  const cluster = flags.learn ? await learn(file, recording, known) : known.cluster;
  try {
    const told = ask(recording, {
      thorough: true,
      network: knownFrom(flags, () => estimateNetwork(recording).path.downBps),
      ...(flags.waterfall && { waterfall: true }),
      ...(flags.whatIf && { whatIf: flags.whatIf }),
      cluster,
    });
    return { told, earlier: cluster?.loads ?? 0 };
  } catch (error) {
    if (error instanceof EmulationError) throw new InputError(`${shownName(file)}: ${error.message}`);
    throw error;
  }
}

async function learn(file: string, recording: Recording, known: ClusterFile): Promise<NetworkCluster | null> {
  const { before, isOther } = await known.learn(recording);
  if (isOther) {
    process.stderr.write(
      `${shownName(file)}: cannot be of the same network as the loads before it, which are forgotten\n`,
    );
  }
  return before;
}

async function readNamed(file: string): Promise<ReadRecording> {
  try {
    const read = await readInput(file);
    for (const note of read.notes) process.stderr.write(`${shownName(file)}: ${printable(note, 200)}\n`);
    return read;
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${shownName(file)}: ${error.message}`);
    throw error;
  }
}

function shownName(file: string): string {
  return file === '-' ? 'standard input' : printable(file, 200);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

// `hopwise predict … | head` closes the pipe: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof InputError) {
    process.stderr.write(`hopwise: ${printable(error.message, 600)}\n`);
    process.exitCode = UNUSABLE;
  } else if (error instanceof CommanderError) {
    // Commander has printed its line; asking for help is no error.
    process.exitCode = error.exitCode === 0 ? 0 : UNUSABLE;
  } else {
    throw error;
  }
}
