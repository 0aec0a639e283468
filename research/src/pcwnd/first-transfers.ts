import { NETWORKS } from '@hopwise/bench/windows/networks';
import { ServerLab } from '@hopwise/bench/windows/server-lab';
import { median } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { labObstacle } from '@hopwise/lab/client/lab';
import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { SEGMENT_BYTES, SEGMENT_WIRE_BYTES } from '@hopwise/pageload-emulator';
import {
  bottleneckShare,
  lossByRound,
  parsePcwndCounts,
  type WindowCount,
} from '@hopwise/pageload-emulator/econ';
import { Command } from 'commander';
import { FlowLatency } from '../econ/flow-latency.ts';

/** Bytes of the responses. */
const SIZES = [30_000, 100_000, 300_000];
const CLIENTS = 5;
const KNOWN_PREFIXES = 4;
const INITIAL_WINDOW = 10;
const PORT = 9464;
/** The agent looks twice a second at what has ended. */
const NOTICE_MS = 800;

interface Options {
  prefixes: number;
  requests: number;
}

/** A first transfer of a new prefix, and what ECON gives by the p(cwnd) of its cluster. Milliseconds. */
interface FirstTransfer {
  measuredMs: number;
  /** As in the paper: from the round trip and p(cwnd) alone. */
  byLossMs: number;
  /** With the rate and queue of the bottleneck too. */
  byLinkMs: number;
}

/** `first-transfers`: latency of the first transfers of clients in new prefixes, predicted from what a server has counted of their cluster. */
export function firstTransfersCommand(context: ProgramContext): Command {
  return new Command('first-transfers')
    .description(
      "predict the first transfers of new prefixes from the p(cwnd) that hopwise-server has counted of their clusters, and measure them, with nginx and the kernel's TCP",
    )
    .option('--prefixes <n>', 'new prefixes on each kind of network', integer(1, 50), 8)
    .option(
      '--requests <n>',
      'of known prefixes before; what is older than 100 s no longer counts',
      integer(10, 1000),
      60,
    )
    .exitOverride()
    .action((options: Options) => run(options, context));
}

async function run(options: Options, { cleanup, signal, say }: ProgramContext): Promise<void> {
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  const folder = await makeScratch('run');
  cleanup.add('the files of nginx', () => removeScratch(folder));
  const kinds = Object.entries(NETWORKS);
  const clients = kinds.flatMap((_, kind) => [...knownClients(kind), ...newClients(kind, options.prefixes)]);
  const lab = await ServerLab.up(folder, kinds[0]![1], clients, SIZES);
  cleanup.add('the lab', () => lab.down());
  // It sets no routes: all windows are the kernel's.
  const agent = await lab.startAgent(['--state', `${folder}/state`, '--port', String(PORT)]);
  cleanup.add('the agent', async () => void (await agent.end()));

  const rows: string[][] = [];
  const all: FirstTransfer[] = [];
  for (const [kind, [name, network]] of kinds.entries()) {
    await lab.configure({ ...network, seed: 1 });
    for (let request = 0; request < options.requests; request++) {
      signal.throwIfAborted();
      const known = knownClients(kind);
      await lab.request(known[request % known.length]!, SIZES[request % SIZES.length]!);
    }
    const transfers: FirstTransfer[] = [];
    for (const client of newClients(kind, options.prefixes)) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, NOTICE_MS));
      transfers.push(...(await measureFirst(lab, client, network)));
    }
    all.push(...transfers);
    rows.push(rowOf(name, transfers));
    say(`${name}: measured`);
  }
  console.log(
    table([
      ['network', '>transfers', '>measured, median', '>off by p(cwnd)', '>off with the link known'],
      ...rows,
      rowOf('all', all),
    ]),
  );
}

const knownClients = (kind: number): string[] =>
  Array.from(
    { length: KNOWN_PREFIXES * CLIENTS },
    (_, index) => `10.${kind + 1}.${index % KNOWN_PREFIXES}.${Math.floor(index / KNOWN_PREFIXES) + 1}`,
  );

/** A client in each new prefix. */
const newClients = (kind: number, prefixes: number): string[] =>
  Array.from({ length: prefixes }, (_, index) => `10.${kind + 1}.${100 + index}.1`);

/** Predicts transfers of these sizes by ECON, from counts of p(cwnd) alone and with the link known too. Milliseconds. */
export function predictFirst(
  counts: readonly WindowCount[],
  network: LabNetwork,
  sizes: readonly number[],
): Omit<FirstTransfer, 'measuredMs'>[] {
  const { rttMs, downBps, queueBytes } = toNetworkPath(network);
  const conditions = { congestionControl: 'cubic', rttMs, loss: lossByRound(counts) } as const;
  const segmentsPerMs = downBps / 8000 / SEGMENT_WIRE_BYTES;
  const byLoss = new FlowLatency(conditions);
  const byLink = new FlowLatency({
    ...conditions,
    ...bottleneckShare(rttMs, segmentsPerMs, queueBytes / SEGMENT_WIRE_BYTES, 1),
  });
  return sizes.map((bytes) => {
    const segments = Math.ceil(bytes / SEGMENT_BYTES);
    const from = { window: INITIAL_WINDOW };
    return { byLossMs: byLoss.latencyMs(segments, from), byLinkMs: byLink.latencyMs(segments, from) };
  });
}

/** A transfer of each size, predicted before the first is made. */
async function measureFirst(lab: ServerLab, client: string, network: LabNetwork): Promise<FirstTransfer[]> {
  const counts = parsePcwndCounts(await lab.askAgent(PORT, '/pcwnd', client));
  const transfers: FirstTransfer[] = [];
  for (const [index, predicted] of predictFirst(counts, network, SIZES).entries())
    transfers.push({ ...predicted, measuredMs: await lab.request(client, SIZES[index]!) });
  return transfers;
}

function rowOf(name: string, transfers: readonly FirstTransfer[]): string[] {
  const off = (by: 'byLossMs' | 'byLinkMs') =>
    `${(100 * median(transfers.map((each) => Math.abs(each[by] / each.measuredMs - 1)))).toFixed(1)}%`;
  return [
    name,
    String(transfers.length),
    `${Math.round(median(transfers.map(({ measuredMs }) => measuredMs)))} ms`,
    off('byLossMs'),
    off('byLinkMs'),
  ];
}
