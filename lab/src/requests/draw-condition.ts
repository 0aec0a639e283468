/** Conditions under which requests are measured: a drawn page at one origin, on a drawn network that may change in mid-session. */
import type { LabNetwork } from '../client/networks.ts';
import { drawNetwork, drawUdpKind } from '../gauntlet/draw-network.ts';
import { drawPage } from '../gauntlet/draw-page.ts';
import { drawFrom, type Range, randomFor, type Split } from '../gauntlet/splits.ts';
import { expectedMs } from '../matrix/measure-plan.ts';
import type { SeededRandom } from '../random.ts';
import type { Site } from '../sites/site.ts';
import type { SessionOrder } from './session.ts';

/** What happens in mid-session. */
export const CHANGES = [
  'none',
  /** Another network, of which nothing is as before. */
  'wifi-to-lte',
  /** UDP is policed or lossy after it was open, or open after it was one of these. */
  'udp-hindered',
  'udp-freed',
  /** UDP is dropped after it was open. */
  'udp-blocked',
  'loss-burst',
  /** Nearly nothing passes for a moment, then another round trip. */
  'handover',
] as const;
export type Change = (typeof CHANGES)[number];

/** Networks that follow each other from the change on; the last one stays. */
interface NetworkStep {
  network: LabNetwork;
  /** How long it lasts, milliseconds; null for the rest of the session. */
  forMs: number | null;
}

export interface Condition {
  name: string;
  split: Split;
  family: string;
  change: Change;
  before: LabNetwork;
  after: NetworkStep[];
  /** Answers all requests. */
  server: Site['origins'][number];
  resources: { path: string; bytes: number; thinkMs: number }[];
  requests: SessionOrder['requests'];
  changesBefore: number | null;
}

/** The only origin: `auto` decides for each by itself. */
export const ORIGIN = 'https://www.gauntlet.test';

/** As many sessions as there are kinds of changes have a change. */
const STEADY_SHARE = 0.45;
/** Requests of a session: the page's first ones, again from the document where it has fewer. */
const STEADY_REQUESTS = 28;
const CHANGING_REQUESTS = 48;
/** Sessions are drawn again that would take longer over TCP, or over QUIC, by sizes, rates and round trips. */
const MAX_EXPECTED_MS = [3000, 3000, 6000] as const;
const MAX_EXPECTED_QUIC_MS = 10_000;
const MAX_DRAWS = 10_000;

const BURST_RANGES = {
  loss: [0.01, 0.12],
  lossBurst: [1.5, 8],
} as const satisfies Record<string, Range>;
const OUTAGE_MS: Range = [150, 1500];
const OUTAGE_LOSS = 0.9;

/** @param number of the condition within its split: each has a page and networks of its own */
export function drawCondition(split: Split, seed: number, number: number): Condition {
  const page = drawPage(split, seed, number);
  const random = randomFor(split, seed, 'requests', number);
  const change = random.fraction() < STEADY_SHARE ? 'none' : random.pick(CHANGES.slice(1));
  const count = change === 'none' ? STEADY_REQUESTS : CHANGING_REQUESTS;
  const [server] = page.origins;
  if (server === undefined) throw new RangeError(`${page.name}: expected an origin`);
  const { nodes } = page;
  const requests = Array.from({ length: count }, (_, at) => {
    const visit = Math.floor(at / nodes.length) * nodes.length;
    const { path, parent } = nodes[at - visit]!;
    return { path, after: parent === null ? null : visit + parent.request.id };
  });
  const resources = nodes.map(({ path, bytes, thinkMs }) => ({ path, bytes, thinkMs }));
  const sizes = new Map(resources.map(({ path, bytes }) => [path, bytes]));
  const bytes = requests.reduce((sum, { path }) => sum + sizes.get(path)!, 0);
  return {
    name: page.name,
    split,
    family: page.family,
    change,
    ...drawNetworks(random, split, change, bytes),
    server: { ...server, origin: ORIGIN },
    resources,
    requests,
    // A few requests earlier or later, so that the change meets documents and what follows them.
    changesBefore: change === 'none' ? null : random.int(18, 26),
  };
}

function drawNetworks(
  random: SeededRandom,
  split: Split,
  change: Change,
  bytes: number,
): Pick<Condition, 'before' | 'after'> {
  const limitMs = random.pick(MAX_EXPECTED_MS);
  for (let draws = 0; draws < MAX_DRAWS; draws++) {
    const networks = drawChange(random, split, change);
    const all = [networks.before, ...networks.after.map(({ network }) => network)];
    if (all.every((network) => isQuick(network, bytes, limitMs))) return networks;
  }
  throw new RangeError(`expected networks that carry ${bytes} bytes in ${limitMs} ms`);
}

function isQuick(network: LabNetwork, bytes: number, limitMs: number): boolean {
  const expect = (protocol: 'h2' | 'h3') => expectedMs({ protocol, view: 'cold' }, bytes, network);
  return expect('h2') <= limitMs && expect('h3') <= MAX_EXPECTED_QUIC_MS;
}

function drawChange(random: SeededRandom, split: Split, change: Change): Pick<Condition, 'before' | 'after'> {
  const hindered = () => random.pick(['policed', 'lossy'] as const);
  const drawn = () => drawNetwork(random, split, drawUsableUdp(random));
  const stay = (network: LabNetwork): NetworkStep => ({ network, forMs: null });
  switch (change) {
    case 'none':
      return { before: drawn(), after: [] };
    case 'wifi-to-lte':
      return { before: drawn(), after: [stay(drawn())] };
    case 'udp-hindered':
    case 'udp-freed':
    case 'udp-blocked': {
      const free = drawNetwork(random, split, 'open');
      const { udp, udpLoss = 0 } = drawNetwork(
        random,
        split,
        change === 'udp-blocked' ? 'blocked' : hindered(),
      );
      const held = { ...free, udp, udpLoss };
      return change === 'udp-freed'
        ? { before: held, after: [stay(free)] }
        : { before: free, after: [stay(held)] };
    }
    case 'loss-burst': {
      const before = drawn();
      const loss = drawFrom(random, split, BURST_RANGES.loss);
      const lossBurst = drawFrom(random, split, BURST_RANGES.lossBurst);
      return { before, after: [stay({ ...before, loss: before.loss + loss, lossBurst })] };
    }
    case 'handover': {
      const before = drawn();
      const { rttMs } = drawNetwork(random, split, 'open');
      const outage = { ...before, loss: OUTAGE_LOSS, lossBurst: 1 };
      return {
        before,
        after: [
          { network: outage, forMs: Math.round(drawFrom(random, split, OUTAGE_MS)) },
          stay({ ...before, rttMs }),
        ],
      };
    }
  }
}

/** A session over QUIC cannot begin where UDP is blocked. */
function drawUsableUdp(random: SeededRandom): Exclude<ReturnType<typeof drawUdpKind>, 'blocked'> {
  for (;;) {
    const kind = drawUdpKind(random);
    if (kind !== 'blocked') return kind;
  }
}
