import type { Assignment } from '@hopwise/contract';
import type { Emulated } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { type Cause, type CriticalStep, causesOf, criticalPath } from './critical-path.ts';
import { LoadTrace } from './load-trace.ts';

/** One emulated load with the record of what happened on its connections. */
export interface TracedLoad {
  load: Emulated;
  trace: LoadTrace;
  path: CriticalStep[];
  /** Milliseconds of the load time by cause. */
  causes: Record<Cause, number>;
}

/**
 * Emulates a load with a trace and a waterfall, to its last request.
 *
 * @throws EndlessLoadError when the load takes too many events
 */
export function traceLoad(graph: PageGraph, scenario: Scenario, assignment: Assignment): TracedLoad {
  const trace = new LoadTrace();
  const load = loadPage(graph, scenario, assignment, { waterfall: true, trace });
  const path = criticalPath(graph, load, trace, scenario.path, scenario.servers);
  return { load, trace, path, causes: causesOf(path) };
}
