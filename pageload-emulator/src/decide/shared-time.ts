import type { NetworkPath } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';

/** A network that takes no time. */
const NO_NETWORK: NetworkPath = {
  rttMs: 0.01,
  downBps: 1e11,
  upBps: 1e11,
  loss: 0,
  lossBurst: 1,
  queueBytes: 1e9,
  udp: { kind: 'open' },
};

/**
 * Computes what a page takes in each scenario whatever carries it: names that are looked up, servers, scripts, its own waits. That is its load time on a
 * network that takes no time.
 *
 * @returns in order of `scenarios`, milliseconds
 */
export function sharedTimes(graph: PageGraph, scenarios: readonly Scenario[]): number[] {
  const known = new Map<Scenario['servers'], number>();
  return scenarios.map(({ servers, seed }) => {
    const before = known.get(servers);
    if (before !== undefined) return before;
    const near = servers.map((server) => ({ ...server, extraRttMs: 0, extraHandshakeRounds: {} }));
    const { pltMs } = loadPage(
      graph,
      { path: NO_NETWORK, servers: near, seed },
      uniformAssignment(graph, 'h2'),
    );
    known.set(servers, pltMs);
    return pltMs;
  });
}
