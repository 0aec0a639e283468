import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { refuseUnknownTopic, unifyErrors } from '@hopwise/contract/command-line';
import { printable } from '@hopwise/contract/terminal';
import {
  adviseServers,
  EmulationError,
  estimateNetwork,
  explain,
  InputError,
  knownFrom,
  type MeasuredNetwork,
  measuredBy,
  type NetworkCluster,
  type NetworkEstimate,
  type PageChoice,
  type PredictOptions,
  pageChoice,
  parseVerification,
  predict,
  type ReadOptions,
  type Recording,
  readPage,
  type ServerChange,
  type Verification,
} from '@hopwise/pageload-emulator';
import { type EconPredictOptions, explainEcon, predictEcon } from '@hopwise/pageload-emulator/econ';
import { Command, CommanderError, Option } from 'commander';
import { addAdviseCommand } from './advise-command.ts';
import { addCheckCommand } from './check-command.ts';
import { ClusterFile } from './cluster-file.ts';
import { addCompletionsCommand } from './completions.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { type EconFlags, readLoss, withEconFlags } from './econ-flags.ts';
import { shortNames } from './file-names.ts';
import { withLoggedPackets } from './logged-packets.ts';
import {
  type CommandFlags,
  knownFlags,
  type ListFlags,
  serverChange,
  withListFlags,
  withNamedNetwork,
  withNetworkFlags,
} from './options.ts';
import { note, print, toJson } from './output.ts';
import { answerLines } from './predict-lines.ts';
import { readInput, readNamed, shownName } from './read-input.ts';
import { refuse, UNUSABLE } from './refuse.ts';
import { showComparison, showGraph, showPrediction } from './show.ts';
import { showEconComparison, showEconExplanation, showEconPrediction } from './show-econ.ts';
import { showExplanation } from './show-explanation.ts';
import { readParsed } from './text-files.ts';
import { packageVersion } from './version.ts';

const PAGE_OPTION = '--page';

const program = new Command('hopwise')
  .description('Says which HTTP version loads a recorded page fastest, how much sooner, and why.')
  .version(packageVersion(), '--version', 'print the version')
  .exitOverride()
  .showHelpAfterError(false)
  .addHelpText(
    'after',
    `
Begin with a HAR: DevTools, Network, "Save all as HAR". A FILE can also be a Chrome
trace, a hopwise recording or an export of the extension, plain, gzipped or zipped.
Figures of the network that are not given are estimated from it.

Examples:
  hopwise predict page.har                            the best protocol, and what to do
  hopwise predict page.har --network lte-poor         the same page on a usual network
  hopwise predict page.har --udp 3mbit --loss 1%      the same page on a network of your own
  hopwise predict page.har --verification probe.json  with what hopwise-host probe --json measured
  hopwise explain page.har                            why each protocol takes as long as it does
  hopwise compare *.har                               many pages in one table
  hopwise check *.har --network lte --budget b.json   within the budget or not, for CI
  hopwise advise page.har --servers                   what to change at your own servers

Exit code: 0 done, 1 over a budget (check) or something does not work (doctor),
2 input that cannot be used.`,
  );

interface Flags extends CommandFlags, EconFlags, ListFlags {
  json?: boolean;
  jsonl?: boolean;
  waterfall?: boolean;
  whatIf?: ServerChange;
  cluster?: string;
  learn?: boolean;
  verification?: string;
  page?: PageChoice;
  netlog?: string;
  model: 'hopwise' | 'econ';
}

withListFlags(
  withWhatIf(
    withNetLog(
      withPage(
        withPredictionFlags(
          program
            .command('predict')
            .description(
              'predict one page from a HAR, a trace, a NetLog, a hopwise recording or an export of the extension',
            )
            .argument('[file]', '- for standard input')
            .allowExcessArguments(),
        ),
      ),
    ),
  ),
)
  .option(
    '--jsonl',
    'for each line {"id": "…", "path": "…", "advise": false} of standard input, answer one line with prediction and advice, or error',
  )
  .option('--waterfall', 'with --json: what each request goes through under each protocol')
  .option(
    '--learn',
    'add what this load shows of the network to the --cluster file, and make it where there is none',
  )
  .addHelpText(
    'after',
    `
Examples:
  hopwise predict page.har --network lte --loss 2%
  hopwise predict page.har --rtt 60ms --down 20mbit --up 5mbit --loss 1% --loss-burst 4 --udp blocked --json
  hopwise predict page.har --what-if iw=32 --what-if cc=bbr
  hopwise predict session.har --page 2
  hopwise predict page.har --netlog chrome-net-export-log.json
  hopwise predict page.har --cluster office.json --learn
  hopwise predict page.har --model econ --pcwnd azure_cubic_npc6.csv.gz
  hopwise predict --jsonl --rtt 60 < questions.jsonl`,
  )
  .action(async (file: string | undefined, flags: Flags, command: Command) => {
    if (flags.jsonl) {
      await predictLines(file, flags, command);
      return;
    }
    if (file === undefined) command.error("error: missing required argument 'file'");
    if (flags.waterfall && !flags.json) {
      command.error('error: --waterfall needs --json (explain shows what each load waits for)');
    }
    if (flags.learn && flags.cluster === undefined) command.error('error: --learn needs a --cluster <file>');
    const known = await knownBeforehand(flags, command);
    if (flags.model === 'econ') {
      const { result, priorLoads } = await answer(file, flags, known, (recording, options) =>
        predictEcon(recording, econOptions(options, flags, known)),
      );
      print(
        flags.json
          ? toJson(withFiles(result, flags))
          : showEconPrediction(result, pcwndLine(flags), priorLoads),
      );
      return;
    }
    const { result, priorLoads } = await answer(file, flags, known, predict);
    print(flags.json ? toJson(result) : showPrediction(result, priorLoads, flags));
  });

/** Answers questions until standard input ends. */
async function predictLines(file: string | undefined, flags: Flags, command: Command): Promise<void> {
  if (file !== undefined) command.error('error: --jsonl takes files from standard input, not as an argument');
  for (const flag of ['json', 'learn', 'cluster', 'verification', 'netlog'] as const) {
    if (flags[flag] !== undefined) command.error(`error: --jsonl does not go with --${flag}`);
  }
  if (flags.model === 'econ') command.error('error: --jsonl does not go with --model econ');
  const known = await knownBeforehand(flags, command);
  const lines = answerLines(process.stdin, async ({ path, page, advise }) => {
    const { recording, verification } = await readInput(path, page === undefined ? {} : { page });
    return {
      prediction: predict(
        recording,
        predictOptions(recording, flags, known, estimateNetwork(recording), verification),
      ),
      ...(advise && { advice: adviseServers([recording]) }),
    };
  });
  await pipeline(
    lines,
    async function* (answers) {
      for await (const answer of answers) yield `${answer}\n`;
    },
    process.stdout,
    { end: false },
  );
}

withListFlags(
  withWhatIf(
    withNetLog(
      withPage(
        withPredictionFlags(
          program
            .command('explain')
            .description('explain why a page takes as long as it does under each protocol')
            .argument('<file>', '- for standard input')
            .allowExcessArguments(),
        ),
      ),
    ),
  ),
)
  .addHelpText(
    'after',
    `
Examples:
  hopwise explain page.har
  hopwise explain page.har --network lte --what-if iw=32
  hopwise explain page.har --model econ`,
  )
  .action(async (file: string, flags: Flags, command: Command) => {
    const known = await knownBeforehand(flags, command);
    if (flags.model === 'econ') {
      const { result } = await answer(file, flags, known, (recording, options) =>
        explainEcon(recording, econOptions(options, flags, known)),
      );
      print(flags.json ? toJson(withFiles(result, flags)) : showEconExplanation(result, pcwndLine(flags)));
      return;
    }
    const { result } = await answer(file, flags, known, explain);
    print(flags.json ? toJson(result) : showExplanation(result, flags));
  });

withPredictionFlags(
  program.command('compare').description('predict many files, as a table').argument('<files...>'),
)
  .option(
    '--learn',
    'the files are loads of one network, in order: each is predicted with what those before it showed (and added to the --cluster file, if one is named)',
  )
  .addHelpText(
    'after',
    `
Examples:
  hopwise compare *.har
  hopwise compare monday.har tuesday.har --learn --cluster office.json
  hopwise compare *.har --udp blocked --json`,
  )
  .action(async (files: string[], flags: Flags, command: Command) => {
    const known = await knownBeforehand(flags, command);
    const show = async <T>(
      ask: (recording: Recording, options: PredictOptions) => T,
      table: (rows: { name: string; prediction: T }[]) => string,
    ) => {
      const predictions: { file: string; prediction: T }[] = [];
      for (const file of files) {
        try {
          predictions.push({ file, prediction: (await answer(file, flags, known, ask)).result });
        } catch (error) {
          // One of many files is no reason to lose the others.
          if (!(error instanceof InputError) || files.length === 1) throw error;
          refuse(error);
        }
      }
      if (predictions.length === 0) return;
      const names = shortNames(predictions.map(({ file }) => file));
      const rows = predictions.map(({ prediction }, index) => ({ name: names[index]!, prediction }));
      print(flags.json ? toJson(predictions) : table(rows));
    };
    if (flags.model === 'econ') {
      await show(
        (recording, options) => withFiles(predictEcon(recording, econOptions(options, flags, known)), flags),
        showEconComparison,
      );
    } else await show(predict, showComparison);
  });

withPage(
  program
    .command('graph')
    .description('show the page graph: what was fetched and computed, and what each waited for')
    .argument('<file>', '- for standard input'),
)
  .option('--json', 'as JSON')
  .action(async (file: string, flags: { json?: boolean; page?: PageChoice }, command: Command) => {
    const { graph } = readPage((await readNamed(file, readOptions(flags, command))).recording);
    print(flags.json ? toJson(graph) : showGraph(graph));
  });

addCheckCommand(program);
addAdviseCommand(program);
addDoctorCommand(program);
addCompletionsCommand(program);
unifyErrors(program, {
  // How a person calls this program, where an npm script of the checkout has started it.
  help: (subcommands) =>
    [process.env.HOPWISE_CALLED_AS || program.name(), ...subcommands, '--help'].join(' '),
});

function withPredictionFlags(command: Command): Command {
  return withEconFlags(
    withNetworkFlags(withNamedNetwork(command))
      .option(
        '--verification <file>',
        'what real transfers showed of the network: JSON of hopwise-host probe --json, or an export of the extension',
      )
      .option('--cluster <file>', 'what earlier loads on the same network showed, as --learn keeps it')
      .addOption(
        new Option('--model <name>', "hopwise's page emulator, or ECON's closed sums (HTTP/1.1 and HTTP/2)")
          .choices(['hopwise', 'econ'])
          .default('hopwise'),
      ),
  ).option('--json', 'as JSON');
}

function withNetLog(command: Command): Command {
  return command.option(
    '--netlog <file>',
    "a NetLog of the same load, beside a HAR: how many of HTTP/3's packets were lost",
  );
}

function withPage(command: Command): Command {
  return command.option(
    `${PAGE_OPTION} <number or URL>`,
    'which page load to take of a file with several: its number from 1, or its URL; the first by default',
    pageChoice,
  );
}

/** How a command's flags have its files read. */
function readOptions({ page }: { page?: PageChoice }, command: Command): ReadOptions {
  if (page !== undefined) return { page };
  return command.options.some(({ long }) => long === PAGE_OPTION) ? { pageOption: PAGE_OPTION } : {};
}

function withWhatIf(command: Command): Command {
  return command.option(
    '--what-if <change>',
    "how load times change with the servers: iw=32 (initial window, packets), cc=bbr (congestion control), start=20mbit or start=2x (begin at a rate, or at a multiple of the link's); can be repeated",
    serverChange,
  );
}

/** What is known before a recording is read. */
interface Known {
  clusterFile: ClusterFile;
  verification: Verification | null;
  /** By a verification. */
  measured: MeasuredNetwork | null;
  /** URL of the page that was verified, where it should be the recorded one. */
  verifiedPage: string | null;
  econLoss: EconPredictOptions['loss'] | null;
  reading: ReadOptions;
}

/** @throws InputError, CommanderError when a file or a combination of flags cannot be used */
async function knownBeforehand(flags: Flags, command: Command): Promise<Known> {
  if (command.name() !== 'compare' && command.args.length > 1) {
    command.error(`error: expected one file, got ${command.args.length} (compare takes several files)`);
  }
  const isEcon = flags.model === 'econ';
  for (const flag of ['pcwnd', 'congestionControl'] as const) {
    if (!isEcon && flags[flag] !== undefined) {
      command.error(`error: ${flag === 'pcwnd' ? '--pcwnd' : '--congestion-control'} needs --model econ`);
    }
  }
  if (isEcon && (flags.whatIf || flags.waterfall)) {
    command.error(`error: ${flags.whatIf ? '--what-if' : '--waterfall'} does not go with --model econ`);
  }
  const { cluster, learn, verification, pcwnd } = flags;
  if (pcwnd && flags.loss !== undefined) command.error('error: --loss does not go with --pcwnd');
  const verified = verification === undefined ? null : await readParsed(verification, parseVerification);
  return {
    measured: verified && measuredBy(verified),
    verification: verified,
    // One verification of many pages can only show the network.
    verifiedPage: verified && command.name() !== 'compare' ? verified.pageUrl : null,
    econLoss: await readLoss(pcwnd),
    reading: readOptions(flags, command),
    clusterFile: await ClusterFile.open(cluster ?? null, learn === true),
  };
}

function econOptions(
  { network, measured, cluster, estimate }: PredictOptions,
  { congestionControl }: Flags,
  { econLoss }: Known,
): EconPredictOptions {
  return {
    ...(estimate && { estimate }),
    ...(network && { network }),
    ...(measured && { measured }),
    ...(cluster && { cluster }),
    ...(econLoss && { loss: econLoss }),
    ...(congestionControl && { congestionControl }),
  };
}

/** With the files of p(cwnd) in place of the network's loss; none where that counts. */
const withFiles = <T>(result: T, { pcwnd = [] }: Flags) => ({
  ...result,
  pcwnd: pcwnd.map(({ file }) => file),
});

/** Says in one line where loss by window comes from; '' where it is the network's loss. */
const pcwndLine = ({ pcwnd = [] }: Flags): string =>
  pcwnd.length === 0
    ? ''
    : `loss by window from ${pcwnd.map(({ file }) => printable(basename(file))).join(', ')}, in place of the network's loss`;

/** @returns the answer, and how many earlier loads it rests on */
async function answer<T>(
  file: string,
  flags: Flags,
  known: Known,
  ask: (recording: Recording, options: PredictOptions) => T,
): Promise<{ result: T; priorLoads: number }> {
  const { recording: own, verification: ownVerification } = await readNamed(file, known.reading);
  const recording = flags.netlog === undefined ? own : await withLoggedPackets(own, flags.netlog);
  const { clusterFile, verifiedPage } = known;
  if (verifiedPage !== null && verifiedPage !== recording.url) {
    note(
      `${printable(flags.verification!, 200)}: of ${printable(verifiedPage)}, not of ${printable(recording.url)}: taken for a load on the same network`,
    );
  }
  const estimate = estimateNetwork(recording);
  const cluster = flags.learn ? await learn(file, recording, clusterFile, estimate) : clusterFile.cluster;
  try {
    const options = predictOptions(recording, flags, known, estimate, ownVerification);
    const result = ask(recording, { ...options, cluster });
    return { result, priorLoads: cluster?.loads ?? 0 };
  } catch (error) {
    if (error instanceof EmulationError) throw new InputError(`${shownName(file)}: ${error.message}`);
    throw error;
  }
}

/** @param ownVerification what the recording's own file says of it */
function predictOptions(
  recording: Recording,
  flags: Flags,
  known: Known,
  estimate: NetworkEstimate,
  ownVerification: Verification | null | undefined,
): PredictOptions {
  const verification = known.verification ?? ownVerification;
  const measured = known.measured ?? (verification && measuredBy(verification));
  return {
    thorough: true,
    estimate,
    network: knownFrom(knownFlags(flags), () => estimate.path.downBps),
    ...(measured && { measured }),
    ...(verification?.pageUrl === recording.url && { knowledge: { verification } }),
    ...(flags.waterfall && { waterfall: true }),
    ...(flags.whatIf && { whatIf: flags.whatIf }),
  };
}

async function learn(
  file: string,
  recording: Recording,
  known: ClusterFile,
  estimate: NetworkEstimate,
): Promise<NetworkCluster | null> {
  const { before, isOther } = await known.learn(recording, estimate);
  if (isOther) {
    note(`${shownName(file)}: cannot be of the same network as the loads before it, which are forgotten`);
  }
  return before;
}

/** Commands of the helper that people look for here. */
const HELPER_COMMANDS = [
  'ca',
  'install',
  'network',
  'pin',
  'probe',
  'resolver',
  'setup',
  'status',
  'uninstall',
  'unpin',
];

/** Runs a command line, without the program's name. Prints what it has to say, and sets the exit code of the process. */
export async function runHopwise(args: readonly string[]): Promise<void> {
  try {
    const [name = ''] = args;
    if (HELPER_COMMANDS.includes(name)) {
      program.error(`error: ${name} is a command of the helper: hopwise-host ${name}`);
    }
    refuseUnknownTopic(program, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof InputError) {
      refuse(error);
    } else if (error instanceof CommanderError) {
      // Commander has printed its line; asking for help is no error.
      process.exitCode = error.exitCode === 0 ? 0 : UNUSABLE;
    } else {
      throw error;
    }
  }
}
