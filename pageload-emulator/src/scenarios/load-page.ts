import type { Assignment } from '@hopwise/contract';
import { type Emulated, type EmulateOptions, EndlessLoadError, emulate } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { type EventBudget, MAX_EVENTS_PER_LOAD } from './event-budget.ts';
import type { Scenario } from './scenario.ts';

/** Options of one load. */
interface LoadOptions extends Pick<EmulateOptions, 'waterfall' | 'trace'> {
  /** Is charged with the load's cost. */
  budget?: EventBudget;
}

/**
 * Emulates one load in a scenario.
 *
 * @throws EndlessLoadError when it takes more than `MAX_EVENTS_PER_LOAD`
 */
export function loadPage(
  graph: PageGraph,
  { path, servers, seed }: Scenario,
  assignment: Assignment,
  { budget, ...options }: LoadOptions = {},
): Emulated {
  const { length } = graph.activities;
  try {
    const limits = { seed, maxEvents: MAX_EVENTS_PER_LOAD };
    const load = emulate(graph, path, servers, assignment, { ...options, ...limits });
    budget?.spend(load.events, length);
    return load;
  } catch (error) {
    if (error instanceof EndlessLoadError) budget?.spend(MAX_EVENTS_PER_LOAD, length);
    throw error;
  }
}
