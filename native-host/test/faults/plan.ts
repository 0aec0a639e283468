/** What happens in each case, from a seed. */
import type { PinKind } from '@hopwise/contract';
import { Random } from './random.ts';

/**
 * On the way to one origin. `stall`, `down` and `packet-gap` pass; `hang` does not, for the connections that are there; nor do
 * `packets-gone`, and the other servers in the origin's place.
 */
export const LINK_FAULTS = [
  'reset',
  'cut',
  'half-close-up',
  'half-close-down',
  'garbage-up',
  'garbage-down',
  'stall',
  'hang',
  'down',
  'packet-gap',
  'packets-gone',
  'packets-lost',
  'packets-policed',
  'packets-damaged',
  'other-certificate',
  'expired-certificate',
  'protocol-gone',
] as const;
type LinkFault = (typeof LINK_FAULTS)[number];

/** In the helper, or in the machine under it. */
const HOST_FAULTS = [
  'engine-killed',
  'host-killed',
  'engine-stopped',
  'disk-full',
  'port-closed',
  'engine-garbage',
  'clock-days',
  'frame-garbage',
  'ca-removed',
  'ca-disk-full',
  'clock-years',
  'clock-back',
] as const;
export type HostFault = (typeof HOST_FAULTS)[number];

/** `host-stopped`: noticed by the extension's heartbeat, which the model of a browser does not have. */
export type Fault = LinkFault | HostFault | 'host-stopped';

/** `idle`: after the requests, before the next page. The others count bytes of the origin's connections. */
interface Moment {
  at: 'before' | 'handshake' | 'up' | 'down' | 'idle';
  bytes: number;
}

export interface PlannedRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Length of the request's body or, where it has none, of the response's. */
  bytes: number;
  seed: number;
  /** First and last byte of a range. */
  range: [number, number] | null;
  /** Milliseconds between the pieces of a response that streams. */
  pauseMs: number | null;
  hasBody: boolean;
}

export interface CasePlan {
  name: string;
  pin: PinKind;
  alpn: readonly string[];
  /** The browser has used its connection before. */
  isWarm: boolean;
  requests: PlannedRequest[];
  fault: Fault;
  moment: Moment;
  /** How long a fault that passes lasts, milliseconds. */
  lastsMs: number;
}

/** The cases that share a host. */
export interface BatchPlan {
  name: string;
  hostFault: HostFault | null;
  cases: CasePlan[];
}

const LINK_CASES = 16;
const HOST_CASES = 6;
/** How many of five batches have a sound host. */
const SOUND_OF_FIVE = 2;

export function planBatch(seed: number, index: number): BatchPlan {
  const turn = index % 5;
  const name = `${seed}/${index}`;
  const sound = turn < SOUND_OF_FIVE;
  const nth = Math.floor(index / 5) * (5 - SOUND_OF_FIVE) + turn - SOUND_OF_FIVE;
  const hostFault = sound ? null : HOST_FAULTS[nth % HOST_FAULTS.length]!;
  const cases = Array.from({ length: sound ? LINK_CASES : HOST_CASES }, (_, at) =>
    planCase(new Random(name, at), `${name}/${at}`, hostFault ?? LINK_FAULTS),
  );
  return { name, hostFault, cases };
}

/** @param faults to draw from */
export function planCase(random: Random, name: string, faults: Fault | readonly Fault[]): CasePlan {
  const fault = typeof faults === 'string' ? faults : random.pick(faults);
  const pin = planPin(random, fault);
  const requests = Array.from({ length: random.between(1, 5) }, () => planRequest(random));
  // Who speaks HTTP/1.1 only has nothing to fall back on.
  const isHttp1 = fault !== 'protocol-gone' && random.chance(0.4);
  return {
    name,
    pin,
    alpn: isHttp1 ? ['http/1.1'] : ['h2', 'http/1.1'],
    isWarm: random.chance(0.6),
    requests,
    fault,
    moment: planMoment(random, requests),
    lastsMs: random.between(200, 1500),
  };
}

function planPin(random: Random, fault: Fault): PinKind {
  if (/^packet/.test(fault)) return random.chance(0.9) ? 'h3' : 'h2';
  // Go answers over HTTP/1.1 whatever the configuration says.
  if (fault === 'protocol-gone') return random.pick(['h2', 'h3']);
  if (random.chance(0.1)) return 'avoid-h3';
  // Over UDP nothing is reset or cut.
  const isOfTcp = (LINK_FAULTS as readonly string[]).includes(fault) && !fault.endsWith('-certificate');
  return random.pick(isOfTcp ? ['h1', 'h2'] : ['h1', 'h2', 'h3']);
}

function planRequest(random: Random): PlannedRequest {
  const seed = random.below(2 ** 31);
  const plain = { method: 'GET' as const, bytes: 0, seed, range: null, pauseMs: null, hasBody: false };
  switch (random.below(9)) {
    case 0:
    case 1:
      return { ...plain, bytes: random.between(1, 20_000) };
    case 2:
      return { ...plain, bytes: random.between(100_000, 1_000_000) };
    case 3: {
      const first = random.below(200_000);
      const last = first + random.below(200_000);
      return { ...plain, bytes: 400_000, range: [first, last] };
    }
    case 4:
      return { ...plain, bytes: random.between(1_000, 100_000), pauseMs: random.between(5, 50) };
    case 5:
      return { ...plain, method: random.pick(['HEAD', 'DELETE']), bytes: 1_000 };
    case 6:
      return { ...plain, method: 'PUT', bytes: random.between(1, 300_000), hasBody: true };
    case 7:
      return { ...plain, method: 'POST', bytes: random.between(1, 300_000), hasBody: true };
    default:
      return { ...plain, method: 'POST', bytes: 0 };
  }
}

function planMoment(random: Random, requests: readonly PlannedRequest[]): Moment {
  const at = random.pick([
    'before',
    'handshake',
    'up',
    'up',
    'down',
    'down',
    'down',
    'down',
    'idle',
  ] as const);
  const sum = (list: readonly PlannedRequest[]): number => list.reduce((all, { bytes }) => all + bytes, 0);
  const up = sum(requests.filter(({ hasBody }) => hasBody)) + 300 * requests.length;
  const down = sum(requests.filter(({ hasBody }) => !hasBody)) + 200 * requests.length;
  const limit = { before: 1, handshake: 2_000, up, down, idle: 1 }[at];
  return { at, bytes: random.below(limit) };
}
