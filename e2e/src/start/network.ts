import { firstLine } from '@hopwise/contract';
import type { NetworkAsSet } from '@hopwise/extension/report';
import {
  checkNetwork,
  type LabNetwork,
  labUdp,
  networkOf,
  profileNamed,
  toNetworkPath,
} from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { udpNotation } from '@hopwise/pageload-emulator';
import type { StartOptions } from './options.ts';

/**
 * The link that the command line asks for: a named profile, with figures of its own replaced.
 *
 * @throws UserError naming the figure or listing the profiles
 */
export function networkFrom({ network: name, changes, seed }: StartOptions): {
  network: LabNetwork;
  asSet: NetworkAsSet;
} {
  let network: LabNetwork;
  try {
    network = checkNetwork({ ...networkOf(profileNamed(name), seed), ...replacements(changes) });
  } catch (error) {
    throw new UserError(firstLine(error), 2);
  }
  const { rttMs, downMbps, upMbps, loss } = network;
  return {
    network,
    asSet: {
      name: Object.keys(changes).length > 0 ? `${name}, changed` : name,
      rttMs,
      downMbps,
      upMbps,
      loss,
      udp: udpNotation(toNetworkPath(network).udp),
    },
  };
}

function replacements({
  rtt,
  down,
  up,
  loss,
  lossBurst,
  queue,
  udp,
}: StartOptions['changes']): Partial<LabNetwork> {
  return {
    ...(rtt !== undefined && { rttMs: rtt }),
    ...(down !== undefined && { downMbps: down }),
    ...(up !== undefined && { upMbps: up }),
    // The profile's bursts belong to the profile's loss.
    ...(loss !== undefined && { loss, lossBurst: 1 }),
    ...(lossBurst !== undefined && { lossBurst }),
    ...(queue !== undefined && { queue: { ms: queue } }),
    ...(udp !== undefined && labUdp(udp)),
  };
}
