import { unifyErrors } from '@hopwise/contract/command-line';
import { serverOption } from '@hopwise/lab/client/server-option';
import type { ServerStack } from '@hopwise/lab/client/server-stack';
import { integer, number } from '@hopwise/lab/command/option-types';
import { PAGE_FORMS } from '@hopwise/lab/pages/page-source';
import {
  InputError,
  NETWORK_FLAGS,
  type NetworkFlag,
  type NetworkFlagValues,
} from '@hopwise/pageload-emulator';
import { Command, InvalidArgumentError, Option } from 'commander';

/** What the command line of `npm start` asks for. */
export interface StartOptions {
  /** Live run on this URL; null for the lab. */
  url: string | null;
  /** Name of a profile in `lab/networks.json`. */
  network: string;
  /** Figures that replace those of the profile. */
  changes: NetworkFlagValues;
  /** A page in a form that `openPage` takes. */
  page: string;
  /** The lab's servers. */
  server: ServerStack;
  /** PEM file of a CA that a live run trusts besides the system's; null for none. */
  ca: string | null;
  /** Page loads of the browser's own choice, of each forced protocol and of hopwise's action. */
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
  ...['--network', '--page', '--server', '--loads', '--seed', '--keep-disturbed'],
  ...NETWORK_FLAGS.map(({ usage }) => usage.replace(/ .*/, '')),
];
const LIVE_OPTIONS = ['--ca'];

function networkOption({ usage, description, parse }: NetworkFlag): Option {
  return new Option(usage, description).argParser((text) => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof InputError ? new InvalidArgumentError(error.message) : error;
    }
  });
}

function pageUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // HTTP/2 and HTTP/3 need TLS.
  if (url?.protocol !== 'https:')
    throw new InvalidArgumentError('expected an https:// URL; pages of the lab and files go with --page');
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
    .option('--network <name>', 'link profile of lab/networks.json', 'udp-policed');
  for (const flag of NETWORK_FLAGS) command.addOption(networkOption(flag));
  command
    .option('--page <page>', PAGE_FORMS, 'app')
    .addOption(serverOption())
    .option('--ca <file>', 'live: trust this CA (PEM) too, for servers of your own')
    .option(
      '--loads <n>',
      'real page loads of each kind: the browser’s own choice, each protocol, what hopwise recommends',
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
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
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
    changes: Object.fromEntries(
      NETWORK_FLAGS.flatMap(({ name }) => (given[name] === undefined ? [] : [[name, given[name]]])),
    ),
    page: given.page,
    server: given.server,
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
