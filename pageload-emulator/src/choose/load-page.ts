import { type Emulated, type EmulateOptions, emulate } from '../emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { Assignment } from '../protocol.ts';
import type { Scenario } from './scenario.ts';

/** How long Chromium's TCP connection waits for the QUIC one where nothing is known of the path (`kDefaultDelayMilliSecsForWaitingJob`). */
const FALL_BACK_MS = 300;

/** Emulates one load in a scenario. What should travel over UDP that is blocked there falls back to HTTP/2. */
export function loadPage(
  graph: PageGraph,
  { path, servers, seed }: Scenario,
  assignment: Assignment,
  options: Omit<EmulateOptions, 'seed'> = {},
): Emulated {
  if (path.udp.kind !== 'blocked') return emulate(graph, path, servers, assignment, { ...options, seed });
  const fallenBack: Assignment = {};
  for (const [origin, protocol] of Object.entries(assignment)) {
    fallenBack[origin] = protocol === 'h3' ? 'h2' : protocol;
  }
  const later = servers.map((server) =>
    assignment[server.origin] === 'h3' ? { ...server, dnsMs: (server.dnsMs ?? 0) + FALL_BACK_MS } : server,
  );
  return emulate(graph, path, later, fallenBack, { ...options, seed });
}
