/** Learned initial windows beside fixed ones, for clusters of clients on several networks, with nginx and the kernel's TCP. */
import { resolve } from 'node:path';
import { quantile } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { labObstacle } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { runProgram } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { bootstrapInterval } from '@hopwise/lab/statistics';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import {
  addCounts,
  KeptWindows,
  type KernelCounts,
  type KindTimes,
  NO_COUNTS,
  type Served,
} from './kept-windows.ts';
import { NETWORKS } from './networks.ts';
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

/** The first and the last are exchanged for the change. */
const KINDS = Object.keys(NETWORKS);

/** Third bytes of the prefixes that keep one window each, beside those that learn: above all of the latter. */
const FIXED_FROM = 200;

interface Options {
  prefixes: number;
  learning: number;
  judged: number;
  change: number;
  out: string;
}

const options = parseOrExit(
  benchCommand(
    'windows',
    `Learns the initial window of prefixes on ${KINDS.length} kinds of networks for responses of ${BYTES / 1000} kB, and compares it with fixed ones that take turns with it.`,
  )
    .option('--prefixes <n>', 'prefixes of each kind', integer(1, 50), 4)
    .option('--learning <n>', 'requests of each prefix before it is judged', integer(30, 10_000), 150)
    .option(
      '--judged <n>',
      'rounds that judge it: a request of each prefix, and as many with each fixed window',
      integer(5, 1000),
      15,
    )
    .option(
      '--change <n>',
      'requests of each prefix at most after its network changes; 0 for none',
      integer(0, 10_000),
      300,
    )
    .option('--out <dir>', 'folder of what was measured, from which a later run continues', 'out/windows'),
).opts<Options>();

const p80 = (times: readonly number[]): number => quantile(times, 0.8);
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const prefixOf = (kind: string, index: number): string => `10.${KINDS.indexOf(kind) + 1}.${index}`;
/** A prefix whose route in the main table has a window, which the agent leaves alone. */
const fixedPrefix = (kind: string, window: number): string =>
  prefixOf(kind, FIXED_FROM + WINDOWS.indexOf(window));
const prefixesOf = (kind: string): string[] =>
  Array.from({ length: options.prefixes }, (_, index) => prefixOf(kind, index));

class Measurement {
  readonly #lab: ServerLab;
  #requests = 0;

  constructor(lab: ServerLab) {
    this.#lab = lab;
  }

  /** A request from a prefix, whose clients take turns. @returns its time, milliseconds */
  request(prefix: string): Promise<number> {
    return this.#lab.request(`${prefix}.${(this.#requests++ % CLIENTS) + 1}`, BYTES);
  }

  /** A request and what the kernel counts meanwhile. */
  async serve(prefix: string, to: Served): Promise<void> {
    const before = await this.#read();
    to.times.push(await this.request(prefix));
    const after = await this.#read();
    to.counts = addCounts(to.counts, {
      segments: after.segments - before.segments,
      retransmitted: after.retransmitted - before.retransmitted,
      timeouts: after.timeouts - before.timeouts,
    });
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

const served = (): Served => ({ times: [], counts: NO_COUNTS });

/** Has the prefixes of a kind learn, and then measures them in turns with those that keep a window. */
async function measureKind(lab: ServerLab, measurement: Measurement, kind: string): Promise<KindTimes> {
  await lab.configure({ ...NETWORKS[kind]!, seed: 1 });
  for (const prefix of prefixesOf(kind))
    for (let request = 0; request < options.learning; request++) await measurement.request(prefix);
  const learned = served();
  const fixed = WINDOWS.map((window) => ({ window, ...served() }));
  const used: number[] = [];
  for (let round = 0; round < options.judged; round++) {
    for (const prefix of prefixesOf(kind)) {
      used.push((await routes(lab)).get(prefix) ?? 10);
      await measurement.serve(prefix, learned);
      for (const each of fixed) await measurement.serve(fixedPrefix(kind, each.window), each);
    }
  }
  return { kind, learned, used, fixed };
}

type Fixed = KindTimes['fixed'];

const timesOf = (fixed: Fixed, window: number): number[] =>
  fixed.find((each) => each.window === window)!.times;

const bestWindow = (fixed: Fixed): number =>
  fixed.reduce((a, b) => (p80(b.times) < p80(a.times) ? b : a)).window;

async function routes(lab: ServerLab): Promise<Map<string, number>> {
  const text = await lab.inServer(['ip', 'route', 'show', 'table', TABLE]).catch(() => '');
  return new Map(
    [...text.matchAll(/^(\d+\.\d+\.\d+)\.0\/24 .*initcwnd (\d+)/gm)].map(([, prefix, window]) => [
      prefix!,
      Number(window),
    ]),
  );
}

/** Requests of each prefix after the change until it has a good window again; null where it has none in the end. */
async function findAgain(
  lab: ServerLab,
  measurement: Measurement,
  prefix: string,
  fixed: Fixed,
): Promise<number | null> {
  const limit = AS_GOOD * p80(timesOf(fixed, bestWindow(fixed)));
  let good = 0;
  for (let request = 1; request <= options.change; request++) {
    await measurement.request(prefix);
    const window = (await routes(lab)).get(prefix) ?? 10;
    good = p80(timesOf(fixed, window)) <= limit ? good + 1 : 0;
    if (good === FOUND_REQUESTS) return request - FOUND_REQUESTS;
  }
  return null;
}

await runProgram(async ({ cleanup, say }) => {
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  const { prefixes, learning, judged, out } = options;
  await makeOutputFolder(out);
  const kept = await KeptWindows.open(out, { prefixes, learning, judged });
  const folder = await makeScratch('run');
  cleanup.add('the files of nginx', () => removeScratch(folder));
  const fixedPrefixes = KINDS.flatMap((kind) =>
    WINDOWS.map((window) => ({ prefix: fixedPrefix(kind, window), window })),
  );
  const clients = [...KINDS.flatMap(prefixesOf), ...fixedPrefixes.map(({ prefix }) => prefix)].flatMap(
    (prefix) => Array.from({ length: CLIENTS }, (_, index) => `${prefix}.${index + 1}`),
  );
  const lab = await ServerLab.up(folder, NETWORKS[KINDS[0]!]!, clients, [BYTES]);
  cleanup.add('the lab', () => lab.down());
  const measurement = new Measurement(lab);
  for (const { prefix, window } of fixedPrefixes) {
    const route = `${prefix}.0/24 dev lab0 congctl cubic initcwnd ${window}`;
    await lab.inServer(['ip', 'route', 'add', ...route.split(' ')]);
  }

  const agent = await lab.startAgent([
    ...['--apply', '--state', resolve(out, 'state'), '--windows', WINDOWS.join(',')],
    ...['--min-connections', '5', '--interval', '100', '--port', '0'],
  ]);
  cleanup.add('the agent', async () => void (await agent.end()));
  for (const kind of KINDS) {
    if (kept.kinds.some((each) => each.kind === kind)) continue;
    await kept.add(await measureKind(lab, measurement, kind));
    say(`${kind}: measured`);
  }
  console.log(showKinds(kept.kinds));

  if (options.change === 0) return;
  const [first, last] = [KINDS[0]!, KINDS.at(-1)!];
  const found: string[][] = [];
  for (const [from, to] of [
    [first, last],
    [last, first],
  ] as const) {
    await lab.configure({ ...NETWORKS[to]!, seed: 3 });
    const { fixed } = kept.kinds.find(({ kind }) => kind === to)!;
    const requests: (number | null)[] = [];
    for (const prefix of prefixesOf(from)) requests.push(await findAgain(lab, measurement, prefix, fixed));
    found.push([
      `${from} → ${to}`,
      requests.map((count) => count ?? `not within ${options.change}`).join(', '),
    ]);
    say(`found again, ${from} → ${to}: ${requests.join(', ')}`);
  }
  console.log(`\n${table([['network changes', 'requests until found again, by prefix'], ...found])}`);
});

/** The share by which one p80 is above another, with its 95% interval over rounds, in which both have a request each. */
function excess(own: readonly number[], other: readonly number[]): string {
  const ratio = (rounds: readonly number[]): number =>
    p80(rounds.map((round) => own[round]!)) / p80(rounds.map((round) => other[round]!)) - 1;
  const rounds = [...own.keys()];
  const { low, high } = bootstrapInterval(ratio(rounds), (random) =>
    ratio(rounds.map(() => Math.floor(random.fraction() * rounds.length))),
  )!;
  return `${percent(ratio(rounds))} (${percent(low)} to ${percent(high)})`;
}

function showKinds(kinds: readonly KindTimes[]): string {
  const rows = kinds.map(({ kind, learned, used, fixed }) => {
    const best = bestWindow(fixed);
    const limit = AS_GOOD * p80(timesOf(fixed, best));
    const good = used.filter((window) => p80(timesOf(fixed, window)) <= limit);
    // The same windows, from prefixes that keep them: what is above the best without the differences between prefixes and requests.
    const replayed = used.map((window, round) => timesOf(fixed, window)[round]!);
    const usual = fixed.find(({ window }) => window === 10)!;
    const share = ({ counts: { segments, retransmitted } }: Served) => percent(retransmitted / segments);
    const timeouts = ({ counts, times }: Served) => percent(counts.timeouts / times.length);
    return [
      kind,
      fixed.map(({ times }) => Math.round(p80(times))).join(' '),
      String(best),
      percent(good.length / used.length),
      String(Math.round(p80(learned.times))),
      excess(learned.times, timesOf(fixed, best)),
      excess(replayed, timesOf(fixed, best)),
      excess(learned.times, usual.times),
      `${share(usual)} → ${share(learned)}`,
      `${timeouts(usual)} → ${timeouts(learned)}`,
    ];
  });
  const allUsual = kinds.flatMap(({ fixed }) => timesOf(fixed, 10));
  const all = kinds.flatMap(({ learned }) => learned.times);
  return [
    table([
      [
        'network',
        `>p80 of ${WINDOWS.join(' ')}, ms`,
        '>best',
        '>requests with one as good',
        '>p80, ms',
        '>over best',
        '>windows alone',
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
