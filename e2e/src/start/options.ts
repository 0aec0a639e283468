import { integer, number } from '@hopwise/lab/command/option-types';
import { PAGE_FORMS } from '@hopwise/lab/pages/page-source';
import { Command, InvalidArgumentError, Option } from 'commander';

/** What the command line of `npm start` asks for. */
export interface StartOptions {
  /** Live run on this URL; null for the lab. */
  url: string | null;
  /** Name of a profile in `lab/networks.json`. */
  network: string;
  rttMs?: number;
  downMbps?: number;
  upMbps?: number;
  loss?: number;
  /** Milliseconds of drop-tail queue at the link's rate. */
  queueMs?: number;
  udp?: 'open' | 'blocked' | number;
  /** As `openPage` takes it. */
  page: string;
  /** PEM file of a CA that a live run trusts besides the system's; null for none. */
  ca: string | null;
  /** Page loads of the browser's own choice, of each forced protocol and of hopwise's assignment. */
  loads: number;
  /** Rounds of transfers for each protocol. */
  rounds: number;
  seed: number;
  /** Time that a page has for its load event. */
  timeoutMs: number;
  /** Keep loads that other work on the machine disturbed, instead of making them again. */
  keepDisturbed: boolean;
  headed: boolean;
  json: boolean;
  out: string;
}

/** Options that mean nothing in the other kind of run. */
const LAB_OPTIONS = [
  ...['--network', '--rtt', '--down', '--up', '--loss', '--queue', '--udp', '--page', '--loads', '--seed'],
  '--keep-disturbed',
];
const LIVE_OPTIONS = ['--ca'];

function udp(text: string): 'open' | 'blocked' | number {
  if (text === 'open' || text === 'blocked') return text;
  const value = Number(text);
  if (!(value > 0 && value <= 10_000)) {
    throw new InvalidArgumentError('expected open, blocked or the Mbit/s to which UDP is held');
  }
  return value;
}

function pageUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // HTTP/2 and HTTP/3 need TLS.
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('expected an https:// URL');
  return url.href;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError when it cannot be used; commander has then written one line to stderr.
 */
export function parseOptions(argv: string[]): StartOptions {
  const command = new Command()
    .name('npm start --')
    .description(
      'Finds out which HTTP version loads a page fastest: in the lab on an emulated link, or, with a URL, live on this network.',
    )
    .argument('[url]', 'page to load live, without the lab', pageUrl)
    .option('--network <name>', 'link profile of lab/networks.json', 'udp-policed')
    .option('--rtt <ms>', 'round trip time', number(0, 5000, 'milliseconds'))
    .option('--down <mbit>', 'rate towards the browser', number(0.05, 10_000, 'Mbit/s'))
    .option('--up <mbit>', 'rate towards the server', number(0.05, 10_000, 'Mbit/s'))
    .option('--loss <fraction>', 'random loss per packet, each way', number(0, 0.5, 'a fraction'))
    .option('--queue <ms>', "length of the bottleneck's queue", number(1, 10_000, 'milliseconds'))
    .addOption(
      new Option('--udp <treatment>', 'open, blocked, or the Mbit/s to which it is held').argParser(udp),
    )
    .option('--page <page>', PAGE_FORMS, 'app')
    .option('--ca <file>', 'live: trust this CA (PEM) too, for servers of your own')
    .option(
      '--loads <n>',
      'real page loads of each kind: the browser’s own choice, each protocol, hopwise’s assignment',
      integer(1, 200),
      3,
    )
    .option('--rounds <n>', 'rounds of verification for each protocol', integer(1, 20), 2)
    .option('--seed <n>', 'seed of the losses', integer(0, 2 ** 31), 1)
    .option('--timeout <s>', 'time that a page has for its load event', number(1, 600, 'seconds'), 60)
    .option(
      '--keep-disturbed',
      'keep loads that other work on this machine disturbed, instead of making them again',
      false,
    )
    .option('--headed', 'show the browser', false)
    .option('--json', 'print the report as JSON and nothing else', false)
    .option('--out <dir>', 'where report.html and report.json go', 'out')
    .showHelpAfterError('(see npm start -- --help)')
    .exitOverride()
    .parse(argv, { from: 'user' });
  const given = command.opts();
  const url: string | null = command.processedArgs[0] ?? null;
  const misplaced = url === null ? LIVE_OPTIONS : LAB_OPTIONS;
  const astray = command.options.find(
    (option) =>
      misplaced.includes(option.long ?? '') && command.getOptionValueSource(option.attributeName()) === 'cli',
  )?.long;
  if (astray !== undefined) {
    command.error(
      url === null
        ? `error: ${astray} goes with a URL, not with the lab`
        : `error: ${astray} goes with the lab, not with a URL`,
      { exitCode: 2 },
    );
  }
  return {
    url,
    network: given.network,
    rttMs: given.rtt,
    downMbps: given.down,
    upMbps: given.up,
    loss: given.loss,
    queueMs: given.queue,
    udp: given.udp,
    page: given.page,
    ca: given.ca ?? null,
    loads: given.loads,
    rounds: given.rounds,
    seed: given.seed,
    timeoutMs: given.timeout * 1000,
    keepDisturbed: given.keepDisturbed,
    headed: given.headed,
    json: given.json,
    out: given.out,
  };
}
