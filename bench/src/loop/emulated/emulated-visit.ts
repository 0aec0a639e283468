/** A visit of a page as all arms meet it: the same network, losses and disturbance. */
import { networkOf, toNetworkPath } from '@hopwise/lab/client/networks';
import type { SeededRandom } from '@hopwise/lab/random';
import { type Assignment, emulate, type Protocol, type Recording } from '@hopwise/pageload-emulator';
import { networkNamed } from '../../product/networks.ts';
import { recordLoadBy } from '../../reading/record-load.ts';
import type { TrueCell } from '../../reading/true-load.ts';
import { listOffering } from './emulated-page.ts';

/** Standard deviations of the logarithms of rate, round trip and time on the machine from visit to visit: together the lab's scatter. */
const SCATTER = { rate: 0.08, rtt: 0.05, machine: 0.04 };
/** The share of loads that other work on the machine disturbs, and how many times as long these take. */
const DISTURBED = { share: 0.03, factor: 1.6 };

export interface EmulatedVisit {
  cell: TrueCell;
  /** Seed of the losses. */
  seed: number;
  /** The factor by which all times are longer than emulated. */
  slowness: number;
}

/** @param network its name */
export function drawVisit(page: TrueCell, network: string, random: SeededRandom): EmulatedVisit {
  const path = toNetworkPath(networkOf(networkNamed(network)));
  const downBps = path.downBps * random.logNormal(SCATTER.rate);
  const rttMs = path.rttMs * random.logNormal(SCATTER.rtt);
  const disturbance = random.fraction() < DISTURBED.share ? DISTURBED.factor : 1;
  return {
    cell: { ...page, path: { ...path, downBps, rttMs } },
    seed: random.int(0, 2 ** 31 - 1),
    slowness: random.logNormal(SCATTER.machine) * disturbance,
  };
}

/** Where UDP is blocked, TCP wins each race at no cost. */
export function withoutBlocked(assignment: Assignment, { cell }: EmulatedVisit): Assignment {
  if (cell.path.udp.kind !== 'blocked') return assignment;
  const used = ([origin, protocol]: [string, Protocol]) => [origin, protocol === 'h3' ? 'h2' : protocol];
  return Object.fromEntries(Object.entries(assignment).map(used));
}

/** An assignment of a protocol to all origins; HTTP/3 to those that offer it, and HTTP/2 to the others. */
export function assign({ cell }: EmulatedVisit, protocol: Protocol): Assignment {
  const offering = listOffering(cell);
  const own = (origin: string) => (protocol === 'h3' && !offering.has(origin) ? 'h2' : protocol);
  return Object.fromEntries(cell.graph.origins.map((origin) => [origin, own(origin)]));
}

/** Load time, milliseconds. */
export function timeLoad({ cell, seed, slowness }: EmulatedVisit, assignment: Assignment): number {
  return emulate(cell.graph, cell.path, cell.servers, assignment, { seed }).pltMs * slowness;
}

/**
 * The load as the extension records it: by the page's own timings alone, without connections, offers or addresses, or in detail, with who made each
 * request and what its servers offer.
 *
 * @param beganMs since 1970
 */
export function recordVisit(
  { cell, seed, slowness }: EmulatedVisit,
  assignment: Assignment,
  beganMs: number,
  isDetailed = false,
): Recording {
  const offering = listOffering(cell);
  const recording = recordLoadBy(cell, assignment, 'stack', seed);
  const scaled = <T extends number | null>(ms: T) => (ms === null ? null : ms * slowness) as T;
  return {
    ...recording,
    recordedAt: new Date(beganMs).toISOString(),
    pltMs: scaled(recording.pltMs),
    requests: recording.requests.map((request) => ({
      ...request,
      startMs: scaled(request.startMs),
      endMs: scaled(request.endMs),
      phases: mapPhases(request.phases, scaled),
      connectionId: null,
      ...(isDetailed
        ? { offersH3: offering.has(new URL(request.url).origin) }
        : { offersH3: null, initiator: { ...request.initiator, source: 'inferred' as const } }),
    })),
  };
}

type Phases = Recording['requests'][number]['phases'];

const mapPhases = (phases: Phases, change: (ms: number | null) => number | null): Phases =>
  Object.fromEntries(Object.entries(phases).map(([name, ms]) => [name, change(ms)])) as unknown as Phases;
