import type { NetworkPath } from '@hopwise/contract';
import * as z from 'zod/mini';
import { InputError } from '../util/input-error.ts';
import { parseJson } from '../util/parse-json.ts';
import { GIVEN_BOUNDS } from './bounds.ts';
import { type NetworkFigures, toPath } from './network-figures.ts';

/** A network that visitors of a page have. */
export interface NamedNetwork {
  name: string;
  /** Share of the visitors; the shares of a list sum to 1. */
  share: number;
  path: NetworkPath;
}

const within = ([min, max]: readonly [min: number, max: number], unit: string) => {
  const expected = `${unit} from ${min} to ${max}`;
  return z.number(expected).check(z.refine((value) => value >= min && value <= max, expected));
};
const milliseconds = within(GIVEN_BOUNDS.rtt, 'milliseconds');
const megabits = within(GIVEN_BOUNDS.mbps, 'Mbit/s');
const QUEUE = '{"ms": …}, {"bytes": …} or {"bdp": …}';
const UDP = '"open", "blocked" or {"policedMbps": …}';

const networkSchema = z.strictObject(
  {
    title: z.optional(z.string('a text')),
    rttMs: milliseconds,
    downMbps: megabits,
    upMbps: megabits,
    loss: within(GIVEN_BOUNDS.loss, 'a fraction'),
    lossBurst: z._default(within(GIVEN_BOUNDS.lossBurst, 'packets'), 1),
    queue: z._default(
      z.union(
        [
          z.strictObject({ ms: within(GIVEN_BOUNDS.queueMs, 'milliseconds') }),
          z.strictObject({ bytes: within([1, 2 ** 30], 'bytes') }),
          z.strictObject({ bdp: within([0.01, 1_000], 'a multiple') }),
        ],
        QUEUE,
      ),
      { bdp: 1 },
    ),
    udp: z._default(
      z.union([z.literal(['open', 'blocked']), z.strictObject({ policedMbps: megabits })], UDP),
      'open',
    ),
    /** Relative number of visitors. */
    visitors: z._default(within([0, 1e12], 'a number of visitors'), 1),
    /** Where the figures come from, as the lab's profiles have it. */
    source: z.optional(z.record(z.string(), z.string('a text'), 'an object of texts')),
  },
  'a network with rttMs, downMbps, upMbps and loss, and if wanted title, lossBurst, queue, udp, visitors and source',
);
const listSchema = z.record(z.string(), networkSchema, 'an object of networks by name');

const MAX_NETWORKS = 100;

/**
 * Reads networks by name: `{"lte": {"rttMs": 70, "downMbps": 12, "upMbps": 12, "loss": 0.001}}`, the form of the lab's
 * `networks.json`. `lossBurst` is 1, `queue` one bandwidth-delay product and `udp` open where they are absent.
 *
 * @throws InputError naming the network, the figure and what was expected
 */
export function parseNetworks(text: string): NamedNetwork[] {
  const networks = Object.entries(parseJson(text, listSchema, 'networks by name'));
  if (networks.length === 0 || networks.length > MAX_NETWORKS) {
    throw new InputError(`top level: expected 1 to ${MAX_NETWORKS} networks, got ${networks.length}`);
  }
  const visitors = networks.reduce((sum, [, network]) => sum + network.visitors, 0);
  if (visitors === 0) throw new InputError('top level: expected a network with visitors above 0, got none');
  return networks.map(([name, network]) => ({
    name,
    share: network.visitors / visitors,
    path: pathOf(network),
  }));
}

function pathOf({ queue, udp, ...network }: z.infer<typeof networkSchema>): NetworkPath {
  const figures = { ...network, queueMs: queueMsOf(queue, network) };
  return toPath({ ...figures, udp: typeof udp === 'string' ? udp : udp.policedMbps });
}

/** How long a full queue takes to drain. */
function queueMsOf(
  queue: z.infer<typeof networkSchema>['queue'],
  { rttMs, downMbps }: Pick<NetworkFigures, 'rttMs' | 'downMbps'>,
): number {
  if ('ms' in queue) return queue.ms;
  return 'bytes' in queue ? (queue.bytes * 8) / (downMbps * 1000) : queue.bdp * rttMs;
}
