import { mean, type NetworkPath, type Protocol, type Recording, type ServerProfile } from '@hopwise/contract';
import { browserAssignment, unknownBefore } from '../emulate/browser-assignment.ts';
import { EndlessLoadError, emulate } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { recordedVisit } from '../recording/visit.ts';
import { originOf } from '../util/url.ts';

/**
 * Error of the logarithm of an emulated load time; assumed. Loads that are slow for other reasons give it a heavy tail, and nothing makes one several
 * times faster.
 */
const SPREAD = 0.25;
/** Degrees of freedom of Student's t distribution, where a load took longer than emulated. */
const TAIL = 4;
/** Five times the events of an ordinary page's load. */
const MAX_EVENTS_PER_LOAD = 100_000;
/** A heavy page is emulated over fewer paths: the first is always emulated, and further ones up to this many events of all. */
const MAX_EVENTS = 30_000;

/**
 * Likelihood of the recorded load time if the browser, without pins, loaded the page over `paths`, the most typical first, on average. Unlike
 * replays it shows how delays add up along the page's dependencies.
 *
 * @returns up to a constant; null when the recording has no load time
 */
export function loadTimeLikelihood(
  recording: Recording,
  graph: PageGraph,
  servers: readonly ServerProfile[],
  paths: readonly NetworkPath[],
): number | null {
  const { pltMs } = recording;
  if (pltMs === null || pltMs <= 0) return null;
  const shown = shownProtocols(recording);
  const assignment = browserAssignment(graph.origins, servers);
  for (const [origin, { last }] of shown) assignment[origin] = last;
  const isLater = recordedVisit(recording) === 'later';
  const isKnown = (origin: string) => {
    const protocols = shown.get(origin);
    return protocols === undefined ? isLater : protocols.first === 'h3';
  };
  const met = servers.map((server) => (isKnown(server.origin) ? server : unknownBefore(server)));
  const likelihoods: number[] = [];
  let events = 0;
  for (const [index, path] of paths.entries()) {
    if (events > MAX_EVENTS) break;
    try {
      const load = emulate(graph, path, met, assignment, { seed: index + 1, maxEvents: MAX_EVENTS_PER_LOAD });
      events += load.events;
      likelihoods.push(errorDensity(Math.log(pltMs / Math.max(1, load.pltMs)) / SPREAD));
    } catch (error) {
      if (!(error instanceof EndlessLoadError)) throw error;
      events += MAX_EVENTS_PER_LOAD;
      likelihoods.push(0);
    }
  }
  return mean(likelihoods);
}

/** The protocols that each origin's requests show, first and last; HTTP/3 counts as last once it was used. */
function shownProtocols({ requests }: Recording): Map<string, { first: Protocol; last: Protocol }> {
  const shown = new Map<string, { first: Protocol; last: Protocol }>();
  for (const { url, protocol, fromCache } of requests) {
    const origin = originOf(url);
    if (origin === null || protocol === null || fromCache) continue;
    const before = shown.get(origin);
    if (before === undefined) shown.set(origin, { first: protocol, last: protocol });
    else if (before.last !== 'h3') before.last = protocol;
  }
  return shown;
}

/** Density of an error, in its spread: Student's t with `TAIL` degrees of freedom above 0, normal below; 1 at 0. */
function errorDensity(x: number): number {
  return x < 0 ? Math.exp(-(x * x) / 2) : (1 + (x * x) / TAIL) ** (-(TAIL + 1) / 2);
}
