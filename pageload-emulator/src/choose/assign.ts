import { emulate } from '../emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { ServerProfile } from '../path/network-path.ts';
import { type Assignment, PROTOCOLS, type Protocol } from '../protocol.ts';
import { mean } from '../statistics.ts';
import type { LoadTimes } from './load-times.ts';
import type { Scenario } from './scenarios.ts';

/** Origins with less slack than this share of the page's time can move it. */
export const SLACK_SHARE = 0.25;
/** Origins looked at, the heaviest first: the cost grows with each. */
const MOST_ORIGINS = 24;
const MOST_SWEEPS = 3;
/** A change must save at least this share to be made. */
const LEAST_SAVING = 0.002;

/** Protocols that each origin may be given. */
export type Choices = ReadonlyMap<string, readonly Protocol[]>;

/** What each origin offers, without those that this network cannot carry. */
export function choicesOf(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  usable: readonly Protocol[],
): Choices {
  const offers = new Map(servers.map((server) => [server.origin, server.offers]));
  return new Map(
    graph.origins.map((origin) => {
      const choices = PROTOCOLS.filter((protocol) => {
        const offered = offers.get(origin)?.[protocol] ?? protocol !== 'h3';
        return offered && usable.includes(protocol);
      });
      return [origin, choices.length > 0 ? choices : (['h1'] as const)];
    }),
  );
}

/** Every origin on `protocol`, or on the next older one that it offers. */
export function nearestUniform(choices: Choices, protocol: Protocol): Assignment {
  const wanted = PROTOCOLS.indexOf(protocol);
  const assignment: Assignment = {};
  for (const [origin, offered] of choices) {
    const older = offered.filter((candidate) => PROTOCOLS.indexOf(candidate) <= wanted);
    assignment[origin] = older[older.length - 1] ?? offered[0]!;
  }
  return assignment;
}

/**
 * The joint assignment with the least mean load time that coordinate descent finds: origin by origin,
 * each moved to its best protocol with the others held, from several starts, until nothing improves. One origin's
 * protocol changes what the others find at the bottleneck, so origins are not chosen apart.
 *
 * @param starts assignments to begin at, the most promising first
 */
export function assign(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  choices: Choices,
  scenarios: readonly Scenario[],
  starts: readonly Assignment[],
  times: LoadTimes,
): Assignment {
  const cost = (assignment: Assignment): number => mean(times.of(assignment, scenarios));
  let best = starts[0]!;
  for (const start of starts) {
    const found = descend(
      start,
      movableOrigins(graph, servers, start, choices, scenarios[0]!),
      choices,
      cost,
    );
    if (cost(found) < cost(best)) best = found;
  }
  return best;
}

function descend(
  start: Assignment,
  origins: readonly string[],
  choices: Choices,
  cost: (assignment: Assignment) => number,
): Assignment {
  let best = start;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let improved = false;
    for (const origin of origins) {
      for (const protocol of choices.get(origin)!) {
        if (protocol === best[origin]) continue;
        const moved = { ...best, [origin]: protocol };
        if (cost(moved) >= cost(best) * (1 - LEAST_SAVING)) continue;
        best = moved;
        improved = true;
      }
    }
    if (!improved) break;
  }
  return best;
}

/** Origins that have a choice and whose requests end late enough to matter, the heaviest first. */
function movableOrigins(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  assignment: Assignment,
  choices: Choices,
  scenario: Scenario,
): string[] {
  const slack = originSlack(graph, servers, assignment, scenario);
  const bytes = originBytes(graph);
  return graph.origins
    .filter((origin, index) => choices.get(origin)!.length > 1 && slack[index]! < SLACK_SHARE)
    .sort((a, b) => bytes.get(b)! - bytes.get(a)!)
    .slice(0, MOST_ORIGINS);
}

/** Per origin the least slack of its requests, as a share of the load time: how much later they may end without moving it. */
export function originSlack(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  assignment: Assignment,
  scenario: Scenario,
): number[] {
  const { entries, pltMs } = emulate(graph, scenario.path, servers, assignment, {
    seed: scenario.seed,
    waterfall: true,
  });
  const entryOf = new Map(entries.map((entry) => [entry.requestId, entry]));
  const latestEndMs = new Float64Array(graph.activities.length).fill(Number.POSITIVE_INFINITY);
  const slack = graph.origins.map(() => 1);
  for (let id = graph.activities.length - 1; id >= 0; id--) {
    const activity = graph.activities[id]!;
    if (activity.blocksLoad) latestEndMs[id] = Math.min(latestEndMs[id]!, pltMs);
    const entry = activity.kind === 'fetch' ? entryOf.get(activity.requestId) : undefined;
    const lengthMs =
      activity.kind === 'compute' ? activity.durationMs : (entry?.endMs ?? 0) - (entry?.startMs ?? 0);
    const delayMs = activity.kind === 'fetch' ? activity.delayMs : 0;
    for (const { activity: parent, fraction } of activity.after) {
      // A parent needed in part may end after this one begins.
      const rest = fraction < 1 ? entryLength(graph, parent, entryOf) * (1 - fraction) : 0;
      latestEndMs[parent] = Math.min(latestEndMs[parent]!, latestEndMs[id]! - lengthMs - delayMs + rest);
    }
    if (activity.kind === 'fetch' && entry && Number.isFinite(latestEndMs[id]!)) {
      const share = Math.max(0, latestEndMs[id]! - entry.endMs) / pltMs;
      slack[activity.origin] = Math.min(slack[activity.origin]!, share);
    }
  }
  return slack;
}

function entryLength(
  graph: PageGraph,
  id: number,
  entryOf: ReadonlyMap<number, { firstByteMs: number; endMs: number }>,
): number {
  const activity = graph.activities[id]!;
  const entry = activity.kind === 'fetch' ? entryOf.get(activity.requestId) : undefined;
  return entry ? entry.endMs - entry.firstByteMs : 0;
}

function originBytes(graph: PageGraph): Map<string, number> {
  const bytes = new Map(graph.origins.map((origin) => [origin, 0]));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const origin = graph.origins[activity.origin]!;
    bytes.set(origin, bytes.get(origin)! + activity.responseBytes);
  }
  return bytes;
}
