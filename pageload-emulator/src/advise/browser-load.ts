import type { ServerProfile } from '@hopwise/contract';
import { browserAssignment, unknownBefore } from '../emulate/browser-assignment.ts';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Visit } from './improvements.ts';

/**
 * Load time of the page as the browser loads it by itself, milliseconds; infinite when the load does not end. Later visits begin
 * with an empty cache of files as well.
 */
export function browserLoadMs(graph: PageGraph, scenario: Scenario, visit: Visit): number {
  const { path } = scenario;
  const servers = scenario.servers.map(visit === 'first' ? asFirstVisit : asLaterVisit);
  const assignment = browserAssignment(
    graph.origins,
    servers,
    (protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked',
  );
  try {
    return loadPage(graph, { ...scenario, servers }, assignment).pltMs;
  } catch (error) {
    if (error instanceof EndlessLoadError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function asFirstVisit(server: ServerProfile): ServerProfile {
  const { session: _session, ...unknown } = unknownBefore(server);
  return unknown;
}

function asLaterVisit(server: ServerProfile): ServerProfile {
  return { ...server, h3Discovery: 'known', session: { tcp: 'resumed', quic: 'resumed', ...server.session } };
}
