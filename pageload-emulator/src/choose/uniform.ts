import { type Emulated, emulate, type OriginOutcome } from '../emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { OriginCounters } from '../http/origin-client.ts';
import type { ServerProfile } from '../path/network-path.ts';
import type { Assignment, Protocol } from '../protocol.ts';
import type { Scenario } from './scenarios.ts';

/** All origins under one protocol, over all scenarios. */
export interface UniformRun {
  protocol: Protocol;
  /** In order of the scenarios. */
  pltMs: number[];
  /** Mean over the scenarios, by origin. */
  origins: Map<string, OriginCounters>;
  /** Mean over the scenarios, all origins together. */
  total: OriginCounters;
}

/** Loads the page in every scenario with every origin on one protocol. */
export function runUniform(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  protocol: Protocol,
  scenarios: readonly Scenario[],
): UniformRun {
  const assignment = uniformAssignment(graph, protocol);
  const runs = scenarios.map(({ path, seed }) => emulate(graph, path, servers, assignment, { seed }));
  return { protocol, pltMs: runs.map(({ pltMs }) => pltMs), ...meanCounters(runs) };
}

/** Every origin on one protocol, whether it offers it or not. */
export function uniformAssignment(graph: PageGraph, protocol: Protocol): Assignment {
  return Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
}

function meanCounters(runs: readonly Emulated[]): Pick<UniformRun, 'origins' | 'total'> {
  const origins = new Map<string, OriginCounters>();
  for (const run of runs) {
    for (const outcome of run.origins) {
      origins.set(outcome.origin, plus(origins.get(outcome.origin), outcome, 1 / runs.length));
    }
  }
  let total: OriginCounters | undefined;
  for (const counters of origins.values()) total = plus(total, counters, 1);
  return { origins, total: total! };
}

function plus(sum: OriginCounters | undefined, more: OriginCounters | OriginOutcome, weight: number) {
  const result = {} as OriginCounters;
  for (const name of COUNTERS) result[name] = (sum?.[name] ?? 0) + more[name] * weight;
  return result;
}

const COUNTERS: readonly (keyof OriginCounters)[] = [
  'requests',
  'connections',
  'waitedForHandshake',
  'handshakeMs',
  'waitedForConnection',
  'connectionWaitMs',
  'lost',
  'queueDrops',
  'policed',
  'timeouts',
  'blockedStreams',
  'blockedMs',
];
