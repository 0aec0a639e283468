import {
  adviseServers,
  EmulationError,
  InputError,
  originOf,
  predict,
  type Recording,
  SERVER_KINDS,
  type ServerKind,
} from '@hopwise/pageload-emulator';
import { type Command, InvalidArgumentError } from 'commander';
import { gzipBodies } from './gzip-bodies.ts';
import { chooseNetworks, type NetworkChoice, withNetworkChoice } from './network-choice.ts';
import { note, print, toJson } from './output.ts';
import { readNamed } from './read-input.ts';
import { whyMisunderstood } from './show.ts';
import { type MisunderstoodPage, showAdvice } from './show-advice.ts';

interface AdviseFlags extends NetworkChoice {
  own?: string[];
  servers?: ServerKind[] | true;
  unproven: boolean;
  json?: boolean;
}

/** Adds the command that advises those who run servers. */
export function addAdviseCommand(program: Command): void {
  withNetworkChoice(
    program
      .command('advise')
      .description('what to change at servers of your own, and what it gains')
      .argument('<files...>', 'recorded pages, which all count alike'),
    ' (default: the network of each recording)',
  )
    .option(
      '--own <host>',
      "a host that you can change, besides those of the page's own site; can be repeated",
      ownHost,
    )
    .option(
      '--servers [list]',
      `also shows the configuration for ${SERVER_KINDS.join(', ')}, or for those in a list`,
      serverKinds,
    )
    .option('--unproven', 'also changes whose predicted gains the lab has not confirmed', false)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The gains are predicted: no load was made with the changes. An advice is given where it shortens the load time by 2% or more, and
where most real loads of such changes were within 5 points of the prediction.

Examples:
  hopwise advise page.har
  hopwise advise pages/*.har --network lte,cable --servers nginx,kernel
  hopwise advise page.har --own cdn.example.net --json`,
    )
    .action(async (files: string[], flags: AdviseFlags) => {
      const networks = await chooseNetworks(flags);
      const pages: Recording[] = [];
      const gzipBytes = new Map<string, number>();
      for (const file of files) {
        pages.push((await readNamed(file)).recording);
        for (const [url, bytes] of await gzipBodies(file)) gzipBytes.set(url, bytes);
      }
      const ownHosts = flags.own ?? [];
      try {
        const list = adviseServers(pages, {
          ownHosts,
          gzipBytes,
          unproven: flags.unproven,
          ...(networks && { networks: networks.chosen }),
        });
        for (const host of ownHosts.filter((each) => !list.owned.some((origin) => isAt(origin, each)))) {
          note(`--own: expected a host that a page requests something of, got "${host}": it is ignored`);
        }
        const kinds = flags.servers === true ? SERVER_KINDS : (flags.servers ?? []);
        const misunderstood = pages.flatMap(misunderstandingOf);
        print(
          flags.json
            ? toJson({ ...list, misunderstood })
            : showAdvice(list, kinds, flags.unproven, misunderstood),
        );
      } catch (error) {
        throw error instanceof EmulationError ? new InputError(error.message) : error;
      }
    });
}

const isAt = (origin: string, host: string): boolean =>
  origin === `https://${host}` || origin === `http://${host}`;

/** Why the recorded load of a page is not understood, as `predict` says it; nothing where it is. */
function misunderstandingOf(recording: Recording): MisunderstoodPage[] {
  const why = whyMisunderstood(predict(recording).fit);
  return why === null ? [] : [{ page: recording.url, why }];
}

function ownHost(text: string, before: string[] = []): string[] {
  const origin = originOf(`https://${text}/`);
  if (origin !== `https://${text.toLowerCase()}`) {
    throw new InvalidArgumentError(`expected a host such as cdn.example.net, got "${text}".`);
  }
  return [...before, text.toLowerCase()];
}

function serverKinds(text: string): ServerKind[] {
  return text.split(',').map((name) => {
    const kind = SERVER_KINDS.find((each) => each === name.trim());
    if (kind) return kind;
    throw new InvalidArgumentError(
      `expected some of ${SERVER_KINDS.join(',')} with commas alone between them, got "${name.trim() === '' ? text : name}".`,
    );
  });
}
