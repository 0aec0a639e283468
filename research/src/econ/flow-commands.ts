import { UserError } from '@hopwise/lab/command/errors';
import { bytes } from '@hopwise/lab/command/option-types';
import {
  InputError,
  NETWORK_FLAGS,
  type NetworkFlagValues,
  SEGMENT_BYTES,
  SEGMENT_WIRE_BYTES,
} from '@hopwise/pageload-emulator';
import { bottleneckShare, type FlowConditions, lossBySegment } from '@hopwise/pageload-emulator/econ';
import type { Command } from 'commander';
import { type EconFlags, readLoss, withEconFlags } from '../../../pageload-emulator/bin/econ-flags.ts';
import { wholeNumber, withNetworkFlags } from '../../../pageload-emulator/bin/options.ts';
import { readParsed } from '../../../pageload-emulator/bin/text-files.ts';
import { FlowLatency } from './flow-latency.ts';
import { type Ladder, parseLadder } from './ladder.ts';
import { type FlowAnswer, showFlow, showVideo, type VideoAnswer } from './show-flow.ts';
import { type SteadyState, steadyThroughput } from './steady-throughput.ts';
import { highestBitrate } from './video-bitrate.ts';

interface FlowFlags extends EconFlags, Pick<NetworkFlagValues, 'rtt' | 'down' | 'loss' | 'queue'> {
  connections: number;
  json?: boolean;
}

const DEFAULT_RTT_MS = 50;
/** RFC 6928. */
const INITIAL_WINDOW = 10;
const MAX_FLOW_BYTES = 1e12;
const MAX_WINDOW = 1e6;
/** Rarer losses let a window without a bottleneck grow beyond what the sums can run over in seconds. */
const MIN_UNLIMITED_LOSS = 1e-7;
/** What each flag of the network means for one flow, where that is not what it means for a page. */
const DESCRIPTIONS: Partial<Record<keyof NetworkFlagValues, string>> = {
  rtt: `round trip time without queueing (default: ${DEFAULT_RTT_MS})`,
  down: "the bottleneck's rate (default: no bottleneck)",
  loss: 'loss per segment, in place of --pcwnd',
  queue: "time that the bottleneck's full queue takes to drain (default: a round trip)",
};
const FLAGS = NETWORK_FLAGS.flatMap((flag) => {
  const description = DESCRIPTIONS[flag.name];
  return description === undefined ? [] : [{ ...flag, description }];
});

/** Adds the commands that ask ECON about one TCP flow. */
export function addFlowCommands(program: Command, print: (text: string) => void): void {
  withConditions(
    program
      .command('flow')
      .exitOverride()
      .description('predict the duration of one TCP flow and the rate of a long one, by ECON')
      .requiredOption('--bytes <n>', 'size of the flow, such as 5MB', bytes(1, MAX_FLOW_BYTES))
      .option(
        '--initial-window <segments>',
        'window of the new connection',
        wholeNumber(1, MAX_WINDOW),
        INITIAL_WINDOW,
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  npm run research -- flow --bytes 100000 --pcwnd azure_cubic_npc1.csv.gz --rtt 50
  npm run research -- flow --bytes 5000000 --loss 0.001 --rtt 80 --down 20 --connections 6`,
    )
    .action(async (flags: FlowFlags & { bytes: number; initialWindow: number }) => {
      const answer = await refuseInOneLine(async () => flowAnswer(await conditionsOf(flags), flags));
      print(flags.json ? JSON.stringify(answer, null, 1) : showFlow(answer));
    });

  withConditions(
    program
      .command('video')
      .exitOverride()
      .description('find the highest bitrate whose segments arrive within their playing time, by ECON')
      .requiredOption(
        '--ladder <file>',
        'bitrates: {"segmentSeconds": 4, "representations": [{"name": "720p", "kbps": 3000}, …]}, or CSV with the columns name,kbps,seconds',
      )
      .option(
        '--window <segments>',
        "window when a segment is asked for (default: a long flow's mean window)",
        wholeNumber(1, MAX_WINDOW),
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  npm run research -- video --ladder ladder.json --pcwnd azure_cubic_npc1.csv.gz --rtt 50
  npm run research -- video --ladder ladder.csv --loss 0.01 --rtt 100 --down 10 --json`,
    )
    .action(async (flags: FlowFlags & { ladder: string; window?: number }) => {
      const answer = await refuseInOneLine(async () => {
        const ladder = await readParsed(flags.ladder, parseLadder);
        return videoAnswer(await conditionsOf(flags), ladder, flags);
      });
      print(flags.json ? JSON.stringify(answer, null, 1) : showVideo(answer));
    });
}

/** @throws UserError for input that cannot be used */
async function refuseInOneLine<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    throw error instanceof InputError ? new UserError(error.message, 2) : error;
  }
}

function withConditions(command: Command): Command {
  return withNetworkFlags(withEconFlags(command), FLAGS)
    .option(
      '--connections <n>',
      'connections that share the bottleneck, this one included',
      wholeNumber(1, 1000),
      1,
    )
    .option('--json', 'as JSON');
}

/** @throws InputError where the loss is not given, or its file cannot be used */
async function conditionsOf(flags: FlowFlags): Promise<FlowConditions> {
  const { rtt = DEFAULT_RTT_MS, down, queue = rtt, connections, congestionControl = 'cubic' } = flags;
  if ((flags.pcwnd === undefined) === (flags.loss === undefined)) {
    throw new InputError('expected --pcwnd <file> or --loss <fraction>, and not both');
  }
  if (down === undefined && flags.loss !== undefined && flags.loss > 0 && flags.loss < MIN_UNLIMITED_LOSS) {
    throw new InputError(
      `--loss ${flags.loss}: expected 0, at least ${MIN_UNLIMITED_LOSS}, or a rate (--down) that ends the window's growth`,
    );
  }
  if (rtt === 0) throw new InputError('--rtt: expected more than 0 milliseconds');
  const measured = await readLoss(flags.pcwnd);
  const loss = measured ? measured(connections) : lossBySegment(flags.loss!);
  if (down === undefined) return { congestionControl, rttMs: rtt, loss };
  const segmentsPerMs = (down * 1e6) / 8000 / SEGMENT_WIRE_BYTES;
  return {
    congestionControl,
    rttMs: rtt,
    loss,
    ...bottleneckShare(rtt, segmentsPerMs, segmentsPerMs * queue, connections),
  };
}

/** What was asked, as answers repeat it. */
function statedConditions(flags: FlowFlags): FlowAnswer['conditions'] {
  const { rtt = DEFAULT_RTT_MS, down, queue = rtt, loss, connections, congestionControl = 'cubic' } = flags;
  return {
    congestionControl,
    rttMs: rtt,
    downMbps: down ?? null,
    queueMs: down === undefined ? null : queue,
    connections,
    loss: loss ?? null,
    pcwnd: flags.pcwnd?.map(({ file }) => file) ?? [],
  };
}

function flowAnswer(
  conditions: FlowConditions,
  flags: FlowFlags & { bytes: number; initialWindow: number },
): FlowAnswer {
  const { bytes, initialWindow } = flags;
  const segments = Math.ceil(bytes / SEGMENT_BYTES);
  const completionMs = summed(() =>
    new FlowLatency(conditions).latencyMs(segments, { window: initialWindow }),
  );
  const steady = longFlow(conditions);
  return {
    bytes,
    segments,
    initialWindow,
    conditions: statedConditions(flags),
    completionMs,
    mbps: (bytes * 8) / completionMs / 1000,
    longFlow: steady && {
      mbps: mbpsOf(steady),
      windowAtLoss: steady.windowAtLoss,
      lossEveryMs: steady.periodMs,
    },
  };
}

function videoAnswer(
  conditions: FlowConditions,
  { segmentSeconds, representations }: Ladder,
  flags: FlowFlags & { window?: number },
): VideoAnswer {
  const steady = longFlow(conditions);
  const window =
    flags.window ??
    (steady ? Math.max(1, Math.floor(steady.segmentsPerMs * conditions.rttMs)) : INITIAL_WINDOW);
  const sizes = representations.map(({ name, kbps }) => ({
    name,
    kbps,
    bytes: Math.round((kbps * 1000 * segmentSeconds) / 8),
  }));
  const deadlineMs = segmentSeconds * 1000;
  // Without a loss that ends its growth, a connection is in slow start.
  const from = steady || flags.window !== undefined ? { window, ssthresh: window } : { window };
  const choice = summed(() => highestBitrate(sizes, deadlineMs, conditions, from));
  const timed = choice.representations.map(({ name, bytes, latencyMs }) => ({
    name,
    kbps: (bytes * 8) / deadlineMs,
    bytes,
    latencyMs,
    isInTime: latencyMs <= deadlineMs,
  }));
  return {
    segmentSeconds,
    window,
    conditions: statedConditions(flags),
    best: timed.find(({ isInTime }) => isInTime) ?? null,
    representations: timed,
  };
}

/** Null where no loss and no queue ever ends the growth of the window. */
function longFlow(conditions: FlowConditions): SteadyState | null {
  const { loss, roomSegments } = conditions;
  if (roomSegments === undefined && loss.inRound(MAX_WINDOW) === 0) return null;
  return summed(() => steadyThroughput(conditions));
}

const mbpsOf = ({ segmentsPerMs }: SteadyState): number => (segmentsPerMs * SEGMENT_BYTES * 8) / 1000;

/** @throws InputError where ECON's sums do not end */
function summed<T>(sum: () => T): T {
  try {
    return sum();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InputError(
      `expected losses within the reach of ECON's sums, or a rate (--down) that ends the window's growth: ${error.message}`,
    );
  }
}
