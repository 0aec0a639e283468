import { checkNetwork, type LabNetwork, networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { firstLine, UserError } from '@hopwise/lab/command/errors';
import type { NetworkAsSet } from '../report/report.ts';
import type { StartOptions } from './options.ts';

/**
 * The link that the command line asks for: a named profile, with figures of its own replaced.
 *
 * @throws UserError naming the figure or listing the profiles
 */
export function networkFrom(options: StartOptions): { network: LabNetwork; asSet: NetworkAsSet } {
  const changed = [
    options.rttMs,
    options.downMbps,
    options.upMbps,
    options.loss,
    options.queueMs,
    options.udp,
  ].some((figure) => figure !== undefined);
  let network: LabNetwork;
  try {
    const profile = networkOf(profileNamed(options.network), options.seed);
    network = checkNetwork({
      ...profile,
      rttMs: options.rttMs ?? profile.rttMs,
      downMbps: options.downMbps ?? profile.downMbps,
      upMbps: options.upMbps ?? profile.upMbps,
      loss: options.loss ?? profile.loss,
      // A loss of one's own is an independent one: bursts belong to the profile's figure.
      lossBurst: options.loss === undefined ? profile.lossBurst : 1,
      queue: options.queueMs === undefined ? profile.queue : { ms: options.queueMs },
      udp: typeof options.udp === 'number' ? { policedMbps: options.udp } : (options.udp ?? profile.udp),
    });
  } catch (error) {
    throw new UserError(firstLine(error), 2);
  }
  return {
    network,
    asSet: {
      name: changed ? `${options.network}, changed` : options.network,
      rttMs: network.rttMs,
      downMbps: network.downMbps,
      upMbps: network.upMbps,
      loss: network.loss,
      udp: typeof network.udp === 'string' ? network.udp : network.udp.policedMbps,
    },
  };
}
