import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BrowserKind } from '../browser/browser-program.ts';
import { serverOption } from '../client/server-option.ts';
import type { ServerStack } from '../client/server-stack.ts';
import { integer, list, someOf } from '../command/option-types.ts';
import type { GroundTruthMatrix, LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { PAGE_FORMS } from '../pages/page-source.ts';

/** Parsed options of `npm run lab`. */
export interface MatrixOptions {
  pages: string[];
  /** Names of profiles; `['all']` for every one. */
  networks: string[];
  /** File with profiles besides those of lab/networks.json. */
  networkFile?: string;
  protocols: LoadProtocol[];
  views: View[];
  seeds: number[];
  out: string;
  /** Default: the headless shell where it is installed. */
  browser?: BrowserKind;
  /** File with the assignments of `assigned`; hopwise's own when absent. */
  assignments?: string;
  stack: ServerStack;
  congestionControl: GroundTruthMatrix['server']['congestionControl'];
  initialWindow: number;
  priorities: GroundTruthMatrix['server']['priorities'];
  /** IP version that host names resolve to. */
  ipVersion: 4 | 6;
  /** Time limit for the load event. */
  timeoutMs: number;
  /** No load starts after this. */
  limitMs?: number;
  /** How long a disturbed load waits for a quiet machine. */
  quietLimitMs: number;
  /** Whether loads kept although disturbed are repeated. */
  repeatDisturbed: boolean;
  /** Only prints what would be measured. */
  plan: boolean;
}

const PROTOCOLS: LoadProtocol[] = ['h1', 'h2', 'h3', 'natural', 'assigned'];
const VIEWS: View[] = ['cold', 'warm'];
const MAX_SEED = 2 ** 31;

/** Adds the options to `command`; `matrixOptions` reads their values. */
export function addMatrixOptions(command: Command): Command {
  return command
    .addOption(parsed('--pages <list>', `comma-separated: ${PAGE_FORMS}`, list, 'shop,news,app'))
    .addOption(
      parsed(
        '--networks <list>',
        'link profiles of lab/networks.json and of --network-file, or all of them',
        list,
        'all',
      ),
    )
    .option('--network-file <file>', 'further link profiles, in the form of lab/networks.json')
    .addOption(parsed('--protocols <list>', PROTOCOLS.join(', '), someOf(PROTOCOLS), 'h1,h2,h3,natural'))
    .addOption(parsed('--seeds <n>', 'loads of each kind: n for the seeds 1 to n, or from-to', seeds, '5'))
    .addOption(parsed('--views <list>', 'cold, warm (the repeat view)', someOf(VIEWS), 'cold'))
    .option('--out <dir>', 'folder of the results; an existing one is continued', 'out/ground-truth')
    .addOption(
      new Option('--browser <kind>', 'default: the headless shell where it is installed').choices([
        'headless-shell',
        'full',
      ]),
    )
    .option(
      '--assignments <file>',
      "for assigned: JSON {page: {network: {origin: protocol}}}; default: hopwise's own",
    )
    .addOption(serverOption())
    .addOption(
      new Option(
        '--congestion-control <name>',
        "congestion control of the servers' TCP, of nginx also of QUIC",
      )
        .choices(['cubic', 'reno', 'bbr'])
        .default('cubic'),
    )
    .option(
      '--initial-window <n>',
      "initial window of the servers' TCP in segments, of nginx also of QUIC",
      integer(1, 100),
      10,
    )
    .addOption(
      new Option('--priorities <treatment>', 'how the servers treat the priorities of HTTP/2 and HTTP/3')
        .choices(['honoured', 'ignored'])
        .default('honoured'),
    )
    .addOption(
      new Option('--ip <version>', 'IP version that host names resolve to').choices(['4', '6']).default('4'),
    )
    .option('--timeout <s>', 'time limit for the load event', integer(1, 600), 120)
    .option(
      '--quiet-limit <s>',
      'how long to wait for a quiet machine before repeating a disturbed load; after that it is kept and marked',
      integer(0, 3600),
      60,
    )
    .option('--repeat-disturbed', 'repeat loads that were kept although disturbed', false)
    .option('--limit-minutes <n>', 'start no load after this many minutes', minutes)
    .option('--plan', 'only print what would be measured and how long it may take', false);
}

/** @throws CommanderError, through `command.error`, for contradicting options */
export function matrixOptions(command: Command): MatrixOptions {
  const given = command.opts();
  if (given.assignments !== undefined && !given.protocols.includes('assigned'))
    command.error('error: --assignments needs --protocols …,assigned', { exitCode: 2 });
  if (
    given.protocols.includes('assigned') &&
    given.assignments === undefined &&
    !(given.protocols.includes('natural') && given.views.includes('cold'))
  ) {
    command.error(
      'error: --protocols assigned: expected natural and the cold view too, from which the assignment is derived, or --assignments',
      { exitCode: 2 },
    );
  }
  return {
    pages: given.pages,
    networks: given.networks,
    networkFile: given.networkFile,
    protocols: given.protocols,
    views: given.views,
    seeds: given.seeds,
    out: given.out,
    browser: given.browser,
    assignments: given.assignments,
    stack: given.server,
    congestionControl: given.congestionControl,
    initialWindow: given.initialWindow,
    priorities: given.priorities,
    ipVersion: given.ip === '6' ? 6 : 4,
    timeoutMs: given.timeout * 1000,
    quietLimitMs: given.quietLimit * 1000,
    repeatDisturbed: given.repeatDisturbed,
    plan: given.plan,
    ...(given.limitMinutes === undefined ? {} : { limitMs: given.limitMinutes * 60_000 }),
  };
}

/** An option whose default is shown in the help as typed on the command line. */
function parsed<T>(
  flags: string,
  description: string,
  parse: (text: string) => T,
  byDefault: string,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(byDefault), byDefault);
}

function seeds(text: string): number[] {
  const match = /^(?:(\d{1,10})-)?(\d{1,10})$/.exec(text);
  const [first, last] = [Number(match?.[1] ?? 1), Number(match?.[2])];
  if (!match || first > last || last > MAX_SEED || last - first >= 1000)
    throw new InvalidArgumentError('expected a number of seeds, up to 1000, or two seeds as in 6-10');
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function minutes(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 100_000))
    throw new InvalidArgumentError('expected minutes, more than 0');
  return value;
}
