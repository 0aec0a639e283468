import { isIP } from 'node:net';
import { join } from 'node:path';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { Command, InvalidArgumentError, Option } from 'commander';
import { bytes, integer } from '../command/option-types.ts';

/** Parsed options of `npm run lab -- record`. */
export interface RecordCommand {
  url: string;
  out: string;
  name: string;
  waitMs: number;
  timeoutMs: number;
  maxBytes: number;
  seed: number;
  headed: boolean;
  /** PEM file of a CA that is trusted besides the system's; null for none. */
  ca: string | null;
  /** Host, and `address:port` to connect to in its place. */
  map: { host: string; to: string }[];
  protocols: 'all' | 'seen';
  /** Protocols under which the recording is loaded from the lab once, as a check. */
  check: Protocol[];
  json: boolean;
}

function pageUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:') {
    throw new InvalidArgumentError('expected an https:// URL: HTTP/2 and HTTP/3 need TLS');
  }
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('expected an https:// URL');
  if (url.username || url.password) {
    throw new InvalidArgumentError('expected a URL without user and password: it would be stored');
  }
  if (url.port !== '') {
    throw new InvalidArgumentError(
      'expected a URL without port: the lab serves port 443; --map HOST=ADDRESS:PORT connects a host to another port',
    );
  }
  return url.href;
}

function mapping(text: string, before: RecordCommand['map'] = []): RecordCommand['map'] {
  const [, host, address, port] = /^([a-z0-9.*-]+)=(\[[0-9a-f:]+\]|[a-z0-9.-]+):(\d{1,5})$/i.exec(text) ?? [];
  if (!host || !address || !(Number(port) > 0 && Number(port) < 65_536)) {
    throw new InvalidArgumentError('expected HOST=ADDRESS:PORT, such as shop.test=127.0.0.1:8443');
  }
  return [...before, { host, to: `${address}:${port}` }];
}

/** The subcommand with its options, and without an action. */
export function recordCommandWithOptions(): Command {
  return new Command('record')
    .description(
      'records a page with its bodies through Chromium, as a site that the lab serves offline under every protocol',
    )
    .argument('<url>', 'page to record', pageUrl)
    .option('--out <dir>', 'folder of the site (default: out/pages/HOST)')
    .option(
      '--wait-ms <ms>',
      'how long to keep recording after the load event',
      integer(0, 600_000, 'milliseconds'),
      2000,
    )
    .option('--timeout <s>', 'time limit for the load event', integer(1, 600, 'seconds'), 60)
    .option(
      '--max-bytes <bytes>',
      'limit for all bodies together, such as 50MB; bodies beyond it become noise',
      bytes(1, 2 ** 28),
      2 ** 28,
    )
    .option('--seed <n>', "seed of the page's Math.random and crypto", integer(0, 2 ** 32 - 1), 1)
    .option('--headed', 'show the browser', false)
    .option('--ca <file>', 'also trust this CA (PEM), for servers of your own')
    .option('--map <host=address:port>', 'connect to this address for this host; repeatable', mapping)
    .addOption(
      new Option('--protocols <which>', 'protocols that the origins offer: all, or those seen')
        .choices(['all', 'seen'])
        .default('all'),
    )
    .addOption(
      new Option('--check <protocol>', 'protocol under which to check the recording in the lab afterwards')
        .choices(['all', ...PROTOCOLS, 'none'])
        .default('all'),
    )
    .option('--json', 'print the result as JSON and nothing else', false)
    .exitOverride();
}

/** @throws CommanderError for options that do not fit together, after commander has written one line to stderr. */
export function recordOptions(command: Command): RecordCommand {
  const given = command.opts();
  const url = command.processedArgs[0] as string;
  const { hostname } = new URL(url);
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) {
    command.error("error: command-argument value '<url>' is invalid: expected a host name, not an address", {
      exitCode: 2,
    });
  }
  return {
    url,
    out: given.out ?? join('out/pages', hostname),
    name: hostname,
    waitMs: given.waitMs,
    timeoutMs: given.timeout * 1000,
    maxBytes: given.maxBytes,
    seed: given.seed,
    headed: given.headed,
    ca: given.ca ?? null,
    map: given.map ?? [],
    protocols: given.protocols,
    check: given.check === 'all' ? [...PROTOCOLS] : given.check === 'none' ? [] : [given.check],
    json: given.json,
  };
}
