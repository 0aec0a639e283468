/** Servers of the gauntlet's pages. */
import type { ServerStack } from '../client/server-stack.ts';
import type { SeededRandom } from '../random.ts';
import type { Site } from '../sites/site.ts';
import { drawFrom, type Range, type Split } from './splits.ts';

type Server = Site['origins'][number];

/** Round trip of an origin's server beyond the network's; the splits divide the range among themselves. */
export const EXTRA_RTT_MS: Range = [2, 120];

/** Initial windows of the servers' TCP in segments, besides the usual 10. */
export const INITIAL_WINDOWS: Record<Split, readonly number[]> = {
  train: [14, 32],
  validation: [12, 24],
  test: [16, 40],
};

/** Shares of servers. */
const USUAL_WINDOW = 0.5;
const BBR = 0.3;
const IGNORES_PRIORITIES = 0.25;
const WITHOUT_ALT_SVC = 0.15;
const SAME_DISTANCE = 0.3;

/** @param origins the document's first, which is at the network's distance */
export function drawServers(random: SeededRandom, split: Split, origins: readonly string[]): Server[] {
  const [document = ''] = origins;
  const ofOwn = drawServer(random, split);
  return origins.map((origin) => {
    const isNear = origin === document || random.fraction() < SAME_DISTANCE;
    return {
      origin,
      protocols: ['h1', 'h2', 'h3'],
      extraRttMs: isNear ? 0 : Math.round(10 * drawFrom(random, split, EXTRA_RTT_MS)) / 10,
      // One operator has one kind of server.
      ...(siteOf(origin) === siteOf(document) ? ofOwn : drawServer(random, split)),
    };
  });
}

/** Drawn servers as the stack can have them: nginx follows the priorities of HTTP/2 always. */
export function serversOn(stack: ServerStack, servers: readonly Server[]): Server[] {
  return servers.map((server) => (stack === 'go' ? server : { ...server, priorities: 'honoured' }));
}

/** The last two labels of the host. */
const siteOf = (origin: string): string => new URL(origin).hostname.split('.').slice(-2).join('.');

function drawServer(random: SeededRandom, split: Split): Omit<Server, 'origin' | 'protocols' | 'extraRttMs'> {
  return {
    congestionControl: random.fraction() < BBR ? 'bbr' : 'cubic',
    initialWindow: random.fraction() < USUAL_WINDOW ? 10 : random.pick(INITIAL_WINDOWS[split]),
    priorities: random.fraction() < IGNORES_PRIORITIES ? 'ignored' : 'honoured',
    altSvc: random.fraction() >= WITHOUT_ALT_SVC,
  };
}
