/** Learnt initial windows by the best fixed ones, for clusters of clients on several networks, against nginx and the kernel's TCP. */
import { join } from 'node:path';
import { quantile } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { ServerLab } from './server-lab.ts';

/** Most responses of web search have less (TCP WISE); in 21 segments it is sent at once with 25. */
const BYTES = 30_000;
const WINDOWS = [10, 15, 20, 25, 30];
const CLIENTS = 5;
/** A window does as well as the best one if its p80 is at most this many times as long. */
const AS_GOOD = 1.05;
/** Requests in a row with such a window after which it counts as found. */
const FOUND_REQUESTS = 10;
const TABLE = '199';

const network = (
  own: Pick<LabNetwork, 'rttMs' | 'downMbps' | 'queue'> & Partial<LabNetwork>,
): LabNetwork => ({
  upMbps: own.downMbps,
  loss: 0,
  lossBurst: 1,
  udp: 'open',
  ...own,
});

/** Kinds of networks; the first and the last are exchanged for the change. */
const NETWORKS: Record<string, LabNetwork> = {
  'far, fast': network({ rttMs: 80, downMbps: 100, queue: { ms: 100 } }),
  cable: network({ rttMs: 30, downMbps: 50, queue: { ms: 50 } }),
  dsl: network({ rttMs: 40, downMbps: 16, queue: { ms: 60 } }),
  mobile: network({ rttMs: 60, downMbps: 20, queue: { ms: 200 }, loss: 0.002 }),
  'tiny buffer': network({ rttMs: 40, downMbps: 10, queue: { bytes: 20_000 } }),
};
const KINDS = Object.keys(NETWORKS);

interface Options {
  prefixes: number;
  fixed: number;
  learning: number;
  judged: number;
  change: number;
}

const options = parseOrExit(
  benchCommand(
    'windows',
    `Learns the initial window of prefixes on ${KINDS.length} kinds of networks for responses of ${BYTES / 1000} kB, beside the best fixed one of each kind.`,
  )
    .option('--prefixes <n>', 'prefixes of each kind', integer(1, 50), 4)
    .option('--fixed <n>', 'requests with each fixed window', integer(5, 1000), 20)
    .option(
      '--learning <n>',
      'requests of each prefix until what was learned is judged',
      integer(30, 10_000),
      60,
    )
    .option('--judged <n>', 'requests of each prefix that judge it', integer(5, 1000), 15)
    .option(
      '--change <n>',
      'requests of each prefix at most after its network changes; 0 for none',
      integer(0, 10_000),
      300,
    ),
).opts<Options>();

const p80 = (times: readonly number[]): number => quantile(times, 0.8);
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const prefixOf = (kind: string, index: number): string => `10.${KINDS.indexOf(kind) + 1}.${index}`;
const prefixesOf = (kind: string): string[] =>
  Array.from({ length: options.prefixes }, (_, index) => prefixOf(kind, index));

/** The kernel's counts of the servers' namespace. */
interface KernelCounts {
  segments: number;
  retransmitted: number;
  timeouts: number;
}

class Measurement {
  readonly #lab: ServerLab;
  #requests = 0;

  constructor(lab: ServerLab) {
    this.#lab = lab;
  }

  /** Requests from a prefix, whose clients take turns. @returns their times, milliseconds */
  async request(prefix: string, count: number): Promise<number[]> {
    const times: number[] = [];
    for (let done = 0; done < count; done++)
      times.push(await this.#lab.request(`${prefix}.${(this.#requests++ % CLIENTS) + 1}`, BYTES));
    return times;
  }

  /** What the kernel counts meanwhile. */
  async count<T>(work: () => Promise<T>): Promise<{ result: T; counts: KernelCounts }> {
    const before = await this.#read();
    const result = await work();
    const after = await this.#read();
    const counts = {
      segments: after.segments - before.segments,
      retransmitted: after.retransmitted - before.retransmitted,
      timeouts: after.timeouts - before.timeouts,
    };
    return { result, counts };
  }

  async #read(): Promise<KernelCounts> {
    const text = await this.#lab.inServer(['cat', '/proc/net/snmp', '/proc/net/netstat']);
    const lines = text.split('\n');
    const figure = (group: string, name: string): number => {
      const [names, values] = lines
        .filter((line) => line.startsWith(`${group}: `))
        .map((line) => line.split(' '));
      return Number(values![names!.indexOf(name)]);
    };
    return {
      segments: figure('Tcp', 'OutSegs'),
      retransmitted: figure('Tcp', 'RetransSegs'),
      timeouts: figure('TcpExt', 'TCPTimeouts'),
    };
  }
}

/** Times of each fixed window of a kind, which take turns, and what the kernel counts of each. */
type FixedTimes = Map<number, { times: number[]; counts: KernelCounts }>;

async function measureFixed(lab: ServerLab, measurement: Measurement, kind: string): Promise<FixedTimes> {
  await lab.configure({ ...NETWORKS[kind]!, seed: 1 });
  const fixed: FixedTimes = new Map();
  const prefix = prefixOf(kind, 0);
  const rounds = 4;
  for (let round = 0; round < rounds; round++) {
    for (const window of WINDOWS) {
      const route = `${prefix}.0/24 dev lab0 congctl cubic initcwnd ${window}`;
      await lab.inServer(['ip', 'route', 'replace', ...route.split(' ')]);
      const { result, counts } = await measurement.count(() =>
        measurement.request(prefix, Math.ceil(options.fixed / rounds)),
      );
      const before = fixed.get(window);
      fixed.set(window, {
        times: [...(before?.times ?? []), ...result],
        counts: addCounts(before?.counts, counts),
      });
    }
  }
  await lab.inServer(['ip', 'route', 'del', `${prefix}.0/24`]);
  return fixed;
}

const addCounts = (a: KernelCounts | undefined, b: KernelCounts): KernelCounts => ({
  segments: (a?.segments ?? 0) + b.segments,
  retransmitted: (a?.retransmitted ?? 0) + b.retransmitted,
  timeouts: (a?.timeouts ?? 0) + b.timeouts,
});

const bestWindow = (fixed: FixedTimes): number =>
  [...fixed.keys()].reduce((a, b) => (p80(fixed.get(b)!.times) < p80(fixed.get(a)!.times) ? b : a));

async function routes(lab: ServerLab): Promise<Map<string, number>> {
  const text = await lab.inServer(['ip', 'route', 'show', 'table', TABLE]).catch(() => '');
  return new Map(
    [...text.matchAll(/^(\d+\.\d+\.\d+)\.0\/24 .*initcwnd (\d+)/gm)].map(([, prefix, window]) => [
      prefix!,
      Number(window),
    ]),
  );
}

interface Judged {
  windows: (number | undefined)[];
  times: number[];
  counts: KernelCounts;
}

/** Requests of each prefix after the change until it has a good window again; null where it has none in the end. */
async function findAgain(
  lab: ServerLab,
  measurement: Measurement,
  prefix: string,
  fixed: FixedTimes,
): Promise<number | null> {
  const limit = AS_GOOD * p80(fixed.get(bestWindow(fixed))!.times);
  let good = 0;
  for (let request = 1; request <= options.change; request++) {
    await measurement.request(prefix, 1);
    const window = (await routes(lab)).get(prefix) ?? 10;
    good = p80(fixed.get(window)!.times) <= limit ? good + 1 : 0;
    if (good === FOUND_REQUESTS) return request - FOUND_REQUESTS;
  }
  return null;
}

await runProgram(async ({ cleanup, say }) => {
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  const folder = await makeScratch('run');
  cleanup.add('the files of nginx', () => removeScratch(folder));
  const clients = KINDS.flatMap((kind) =>
    prefixesOf(kind).flatMap((prefix) =>
      Array.from({ length: CLIENTS }, (_, index) => `${prefix}.${index + 1}`),
    ),
  );
  const lab = await ServerLab.up(folder, NETWORKS[KINDS[0]!]!, clients, [BYTES]);
  cleanup.add('the lab', () => lab.down());
  const measurement = new Measurement(lab);

  const fixed = new Map<string, FixedTimes>();
  for (const kind of KINDS) {
    fixed.set(kind, await measureFixed(lab, measurement, kind));
    say(`fixed windows, ${kind}: best ${bestWindow(fixed.get(kind)!)}`);
  }

  const agent = await lab.startAgent([
    ...['--apply', '--state', join(folder, 'state'), '--windows', WINDOWS.join(',')],
    ...['--min-connections', '5', '--interval', '100', '--port', '0'],
  ]);
  cleanup.add('the agent', async () => void (await agent.end()));
  const judged = new Map<string, Judged>();
  for (const kind of KINDS) {
    await lab.configure({ ...NETWORKS[kind]!, seed: 2 });
    for (const prefix of prefixesOf(kind)) await measurement.request(prefix, options.learning);
    const { result, counts } = await measurement.count(async () => {
      const times: number[] = [];
      for (const prefix of prefixesOf(kind))
        times.push(...(await measurement.request(prefix, options.judged)));
      return times;
    });
    const learned = await routes(lab);
    judged.set(kind, {
      windows: prefixesOf(kind).map((prefix) => learned.get(prefix)),
      times: result,
      counts,
    });
    say(`learned windows, ${kind}: ${judged.get(kind)!.windows.join(', ')}`);
  }
  console.log(showJudged(fixed, judged));

  if (options.change === 0) return;
  const [first, last] = [KINDS[0]!, KINDS.at(-1)!];
  const found: string[][] = [];
  for (const [from, to] of [
    [first, last],
    [last, first],
  ] as const) {
    await lab.configure({ ...NETWORKS[to]!, seed: 3 });
    const requests: (number | null)[] = [];
    for (const prefix of prefixesOf(from))
      requests.push(await findAgain(lab, measurement, prefix, fixed.get(to)!));
    found.push([
      `${from} → ${to}`,
      requests.map((count) => count ?? `not within ${options.change}`).join(', '),
    ]);
    say(`found again, ${from} → ${to}: ${requests.join(', ')}`);
  }
  console.log(`\n${table([['network changes', 'requests until found again, by prefix'], ...found])}`);
});

function showJudged(fixed: ReadonlyMap<string, FixedTimes>, judged: ReadonlyMap<string, Judged>): string {
  const share = ({ segments, retransmitted }: KernelCounts) => retransmitted / segments;
  const rows = KINDS.map((kind) => {
    const own = fixed.get(kind)!;
    const { windows, times, counts } = judged.get(kind)!;
    const best = bestWindow(own);
    const usual = own.get(10)!;
    const timeouts = (of: KernelCounts, requests: number) => percent(of.timeouts / requests);
    return [
      kind,
      WINDOWS.map((window) => Math.round(p80(own.get(window)!.times))).join(' '),
      String(best),
      windows.map((window) => window ?? '–').join(' '),
      String(Math.round(p80(times))),
      percent(p80(times) / p80(own.get(best)!.times) - 1),
      percent(p80(times) / p80(usual.times) - 1),
      `${percent(share(usual.counts))} → ${percent(share(counts))}`,
      `${timeouts(usual.counts, usual.times.length)} → ${timeouts(counts, times.length)}`,
    ];
  });
  const allUsual = KINDS.flatMap((kind) => fixed.get(kind)!.get(10)!.times);
  const all = KINDS.flatMap((kind) => judged.get(kind)!.times);
  return [
    table([
      [
        'network',
        `>p80 of ${WINDOWS.join(' ')}, ms`,
        '>best',
        'learned, by prefix',
        '>p80, ms',
        '>over best',
        '>over 10',
        '>sent again, 10 → learned',
        '>timeouts a request',
      ],
      ...rows,
    ]),
    '',
    `p80 of all requests: ${Math.round(p80(all))} ms, with 10 ${Math.round(p80(allUsual))} ms (${percent(p80(all) / p80(allUsual) - 1)})`,
  ].join('\n');
}
