import {
  InputError,
  type NamedNetwork,
  NETWORK_NAMES,
  namedPath,
  parseNetworks,
} from '@hopwise/pageload-emulator';
import { type Command, InvalidArgumentError } from 'commander';
import { readParsed } from './text-files.ts';

export interface NetworkChoice {
  /** File of networks. */
  networks?: string;
  /** Names of networks, of the file where there is one. */
  network?: string[];
}

/** Offers the flags by which a command takes several networks. */
export function withNetworkChoice(command: Command, withoutAny: string): Command {
  return command
    .option(
      '--network <names>',
      `networks by name, with commas between them or repeated: ${NETWORK_NAMES.join(', ')}; with --networks those of the file`,
      names,
    )
    .option(
      '--networks <file>',
      `networks of your own by name, in the form of the lab's networks.json${withoutAny}`,
    );
}

function names(text: string, before: string[] = []): string[] {
  const given = text.split(',').map((name) => name.trim());
  if (given.includes('')) throw new InvalidArgumentError('expected names with commas between them');
  return [...before, ...given];
}

/** All networks that could be named, and those that were chosen. */
interface ChosenNetworks {
  known: NamedNetwork[];
  chosen: NamedNetwork[];
}

/**
 * Reads the file of networks and picks those that are named.
 *
 * @returns null where neither flag is given
 * @throws InputError that names the file and the place in it, or lists the names
 */
export async function chooseNetworks({ networks, network }: NetworkChoice): Promise<ChosenNetworks | null> {
  if (networks === undefined && network === undefined) return null;
  const known =
    networks === undefined
      ? NETWORK_NAMES.map((name) => ({ name, share: 1 / NETWORK_NAMES.length, path: namedPath(name) }))
      : await readParsed(networks, parseNetworks);
  if (network === undefined) return { known, chosen: known };
  const picked = [...new Set(network)].map((name) => {
    const found = known.find((each) => each.name === name);
    if (found !== undefined) return found;
    const place = networks === undefined ? '' : ` of ${networks}`;
    throw new InputError(
      `--network: expected some of ${known.map((each) => each.name).join(', ')}${place}, got ${JSON.stringify(name)}`,
    );
  });
  const shares = picked.reduce((sum, { share }) => sum + share, 0);
  const weigh = (share: number) => (shares === 0 ? 1 / picked.length : share / shares);
  return { known, chosen: picked.map((each) => ({ ...each, share: weigh(each.share) })) };
}
