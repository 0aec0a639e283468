/**
 * The cost of a warm emulation by size, by protocol and in memory, of the joint assignment, and of what the extension's worker does with a
 * recorded page.
 */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, quantile } from '@hopwise/contract';
import { choicesOf } from '../../../pageload-emulator/dist/choose/choices.js';
import { chooseJointly } from '../../../pageload-emulator/dist/choose/joint-assignment.js';
import { CHROMIUM_COSTS } from '../../../pageload-emulator/dist/client/client-costs.js';
import {
  type Assignment,
  emulate,
  type NetworkPath,
  type PageGraph,
  PROTOCOLS,
  type ServerProfile,
} from '../../../pageload-emulator/dist/index.js';
import { LoadTimes } from '../../../pageload-emulator/dist/scenarios/load-times.js';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { recordPage, timePageWork } from './page-work.ts';

/** Requests and origins. */
const SIZES = [
  [100, 8],
  [500, 20],
  [1_000, 20],
  [2_000, 20],
  [5_000, 20],
] as const;
/** Requests and origins of recorded pages. */
const RECORDED_SIZES = [
  [50, 5],
  [200, 10],
  [1_000, 20],
] as const;
const WARM_UP_MS = 500;
const MEASURED_MS = 1_000;
const MIN_ROUNDS = 15;
/** Scenarios of a choice, as `choose` draws them with random losses. */
const SCENARIOS = 12;

const TARGET = { loadsMs: 1.5, assignmentMs: 60, memoryBytes: 40e6, growth: 1.5 };

const PATH: NetworkPath = {
  rttMs: 40,
  downBps: 20e6,
  upBps: 5e6,
  loss: 0.002,
  lossBurst: 1,
  queueBytes: 100_000,
  udp: { kind: 'open' },
};

/** A page whose scripts fetch further files: a seventh of the requests wait for the document, the rest for one before them. */
function syntheticPage(requests: number, origins: number): PageGraph {
  return {
    url: 'https://origin0.example/',
    client: CHROMIUM_COSTS,
    origins: Array.from({ length: origins }, (_, index) => `https://origin${index}.example`),
    activities: Array.from({ length: requests }, (_, id) => ({
      kind: 'fetch' as const,
      id,
      requestId: id,
      url: `https://origin${id % origins}.example/${id}`,
      origin: id % origins,
      type: id === 0 ? ('document' as const) : ('image' as const),
      requestBytes: 500,
      // 1 to 40 kB, 9 kB on average.
      responseBytes: 1_000 + ((id * 7_919) % 13_000) * (id % 9 === 0 ? 3 : 1),
      blocksLoad: true,
      renderBlocking: id === 0,
      urgency: id % 4,
      incremental: id % 4 === 3,
      after:
        id === 0
          ? []
          : [
              {
                activity: id % 7 === 0 ? 0 : id >> 3,
                kind: 'parser' as const,
                fraction: 1,
                source: 'inferred' as const,
              },
            ],
      delayMs: id % 5,
    })),
  };
}

function serversOf(graph: PageGraph): ServerProfile[] {
  return graph.origins.map((origin, index) => ({
    origin,
    extraRttMs: index % 5,
    thinkMs: 5,
    tcp: { initialWindow: 10, congestionControl: 'cubic' },
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
  }));
}

function uniformAssignments(graph: PageGraph): Assignment[] {
  return PROTOCOLS.map((protocol) =>
    Object.fromEntries(graph.origins.map((origin): [string, typeof protocol] => [origin, protocol])),
  );
}

/** Processor time so far: equals elapsed time on an idle machine and excludes other work on a busy one. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Processor times of many runs, warm, in milliseconds. */
function timesOf(run: () => void): number[] {
  for (const startMs = processorMs(); processorMs() - startMs < WARM_UP_MS; ) run();
  const times: number[] = [];
  for (let spent = 0; spent < MEASURED_MS || times.length < MIN_ROUNDS; ) {
    const startMs = processorMs();
    run();
    const ms = processorMs() - startMs;
    times.push(ms);
    spent += ms;
  }
  return times;
}

function spread(times: readonly number[]): string {
  const [low, middle, high] = [0.1, 0.5, 0.9].map((share) => quantile(times, share).toFixed(2));
  return `${middle} ms (${low} to ${high}, least ${Math.min(...times).toFixed(2)})`;
}

function verdict(met: boolean, target: string): string {
  return `${met ? 'met   ' : 'MISSED'} ${target}`;
}

function benchSizes(): void {
  console.log('One load under each protocol, processor time: median (10th to 90th percentile, least)');
  const costs: { requests: number; ms: number }[] = [];
  for (const [requests, origins] of SIZES) {
    const graph = syntheticPage(requests, origins);
    const servers = serversOf(graph);
    const assignments = uniformAssignments(graph);
    const single = assignments.map((assignment, index) => {
      const times = timesOf(() => emulate(graph, PATH, servers, assignment));
      const { events } = emulate(graph, PATH, servers, assignment);
      return `${PROTOCOLS[index]} ${median(times).toFixed(2)} ms, ${events} events`;
    });
    const all = timesOf(() => {
      for (const assignment of assignments) emulate(graph, PATH, servers, assignment);
    });
    costs.push({ requests, ms: median(all) });
    const line = `  ${requests} requests, ${origins} origins: all three ${spread(all)}; ${single.join('; ')}`;
    const judged = requests === 500 ? `\n  ${verdict(median(all) <= TARGET.loadsMs, '1.5 ms')}` : '';
    console.log(line + judged);
  }
  // Per request and doubling, against 500 requests: constant where cost grows as n log n.
  const unit = ({ requests, ms }: { requests: number; ms: number }) => ms / (requests * Math.log2(requests));
  const base = unit(costs.find(({ requests }) => requests === 500)!);
  const growth = costs.slice(1).map((cost) => unit(cost) / base);
  const steps = costs.slice(1).map(({ requests }, index) => `${requests}: ${growth[index]!.toFixed(2)}`);
  console.log(`Cost over n log n, relative to 500 requests: ${steps.join(', ')}`);
  console.log(`  ${verdict(Math.max(...growth) <= TARGET.growth, 'grows as n log n (at most 1.5)')}`);
}

function benchAssignment(): void {
  const graph = syntheticPage(500, 20);
  const servers = serversOf(graph);
  const choices = choicesOf(graph, servers, PROTOCOLS);
  const scenarios = Array.from({ length: SCENARIOS }, (_, index) => ({
    path: PATH,
    servers,
    seed: index + 1,
  }));
  const runs = PROTOCOLS.map((protocol) => ({ protocol }));
  let emulations = 0;
  const times = timesOf(() => {
    const loadTimes = new LoadTimes(graph);
    chooseJointly({ graph, choices, runs, scenarios, thorough: false }, loadTimes);
    emulations = loadTimes.emulations;
  });
  console.log(`Joint assignment, 500 requests, 20 origins: ${spread(times)}, ${emulations} emulations`);
  console.log(`  ${verdict(median(times) <= TARGET.assignmentMs, '60 ms')}`);
}

/** Maximum resident set, in bytes, of a separate process that loads the library and the page, with or without emulating it. */
function residentBytes(emulates: boolean): number {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), emulates ? 'emulate' : 'load'], {
    encoding: 'utf8',
  });
  const bytes = Number(child.stdout) * 1024;
  if (child.status !== 0 || !(bytes > 0)) throw new Error(`memory: ${child.stderr}`);
  return bytes;
}

function benchMemory(): void {
  const added = [1, 2, 3, 4, 5].map(() => residentBytes(true) - residentBytes(false));
  const middle = median(added);
  const [least, most] = [Math.min(...added), Math.max(...added)].map((bytes) => (bytes / 1e6).toFixed(0));
  console.log(
    `Memory that loading a page of 2,000 requests under all three protocols adds: ${(middle / 1e6).toFixed(0)} MB (${least} to ${most})`,
  );
  console.log(`  ${verdict(middle <= TARGET.memoryBytes, '40 MB')}`);
}

function benchPageWork(against: string | null): void {
  const recordings = RECORDED_SIZES.flatMap(([requests, origins]) =>
    (['h2', 'h3'] as const).map((protocol) => {
      const graph = syntheticPage(requests, origins);
      return [
        `${requests} requests, ${protocol}`,
        recordPage(graph, serversOf(graph), PATH, protocol),
      ] as const;
    }),
  );
  console.log('Processor time of learning the network from a recorded page, and of its prediction: medians');
  for (const line of timePageWork(new Map(recordings), against)) console.log(line);
}

/** Runs in the separate process: prints its maximum resident set in kilobytes. */
function holdPage(emulates: boolean): void {
  const graph = syntheticPage(2_000, 20);
  const servers = serversOf(graph);
  if (emulates) {
    for (const assignment of uniformAssignments(graph)) {
      emulate(graph, PATH, servers, assignment, { waterfall: true });
    }
  }
  console.log(process.resourceUsage().maxRSS);
}

const [child] = process.argv.slice(2);
if (child === 'load' || child === 'emulate') {
  holdPage(child === 'emulate');
} else {
  const { against = null, work = false } = parseOrExit(
    benchCommand(
      'speed',
      'Times warm emulations by page size and the joint assignment, and measures their memory, by targets. With --work it times what the worker does with a page.',
    )
      .option(
        '--work',
        'time what the worker does with a recorded page instead: it learns the network, and predicts',
      )
      .option('--against <folder>', 'the same by turns with another checkout of hopwise, which is built'),
  ).opts<{ against?: string; work?: boolean }>();
  if (work || against !== null) {
    benchPageWork(against);
  } else {
    benchSizes();
    benchAssignment();
    benchMemory();
  }
}
