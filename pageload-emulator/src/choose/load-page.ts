import { type Emulated, type EmulateOptions, emulate } from '../emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { Assignment } from '../protocol.ts';
import type { Scenario } from './scenario.ts';

/** Emulates one load in a scenario. */
export function loadPage(
  graph: PageGraph,
  { path, servers, seed }: Scenario,
  assignment: Assignment,
  options: Omit<EmulateOptions, 'seed'> = {},
): Emulated {
  return emulate(graph, path, servers, assignment, { ...options, seed });
}
