import type { NetworkPath } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';
import { type NetworkFigures, toPath } from './network-figures.ts';

const CABLE: NetworkFigures = {
  rttMs: 28,
  downMbps: 40,
  upMbps: 8,
  loss: 0,
  lossBurst: 1,
  queueMs: 150,
  udp: 'open',
};

/** Usual networks by name: the lab's profiles, whose `networks.json` has the source of each figure. */
export const NAMED_NETWORKS = {
  fast: { rttMs: 10, downMbps: 100, upMbps: 50, loss: 0, lossBurst: 1, queueMs: 50, udp: 'open' },
  cable: CABLE,
  dsl: { rttMs: 50, downMbps: 10, upMbps: 1, loss: 0.0005, lossBurst: 1, queueMs: 200, udp: 'open' },
  lte: { rttMs: 70, downMbps: 12, upMbps: 12, loss: 0.001, lossBurst: 1, queueMs: 200, udp: 'open' },
  'lte-poor': { rttMs: 170, downMbps: 4, upMbps: 1, loss: 0.01, lossBurst: 2, queueMs: 400, udp: 'open' },
  '3g': { rttMs: 300, downMbps: 1.6, upMbps: 0.768, loss: 0.002, lossBurst: 1, queueMs: 500, udp: 'open' },
  satellite: { rttMs: 600, downMbps: 25, upMbps: 3, loss: 0.001, lossBurst: 1, queueMs: 600, udp: 'open' },
  slow: { rttMs: 150, downMbps: 1.6, upMbps: 0.75, loss: 0, lossBurst: 1, queueMs: 300, udp: 'open' },
  lossy: { rttMs: 50, downMbps: 20, upMbps: 5, loss: 0.02, lossBurst: 1, queueMs: 100, udp: 'open' },
  'wifi-bursty': { rttMs: 32, downMbps: 20, upMbps: 8, loss: 0.02, lossBurst: 6, queueMs: 150, udp: 'open' },
  'udp-policed': { ...CABLE, udp: 2 },
  'udp-blocked': { ...CABLE, udp: 'blocked' },
} as const satisfies Record<string, NetworkFigures>;

export type NetworkName = keyof typeof NAMED_NETWORKS;

/** The names in the order in which they are offered. */
export const NETWORK_NAMES = Object.keys(NAMED_NETWORKS) as NetworkName[];

/**
 * Returns a usual network's path.
 *
 * @throws InputError that lists the names
 */
export function namedPath(name: string): NetworkPath {
  const known = NETWORK_NAMES.find((each) => each === name);
  if (known === undefined) {
    throw new InputError(`expected one of ${NETWORK_NAMES.join(', ')}, got ${shown(name)}`);
  }
  return toPath(NAMED_NETWORKS[known]);
}
