import type { PageGraph } from '../graph/page-graph.ts';
import type { Assignment } from '../protocol.ts';
import { loadPage } from './load-page.ts';
import type { Scenario } from './scenario.ts';

/** Load times of a page by assignment and scenario, each emulated once. */
export class LoadTimes {
  readonly #graph: PageGraph;
  readonly #known = new Map<string, Map<Scenario, number>>();
  #emulations = 0;

  constructor(graph: PageGraph) {
    this.#graph = graph;
  }

  /** Loads emulated so far. */
  get emulations(): number {
    return this.#emulations;
  }

  /** In order of `scenarios`, which are told apart by identity. */
  of(assignment: Assignment, scenarios: readonly Scenario[]): number[] {
    const known = this.#timesOf(assignment);
    return scenarios.map((scenario) => {
      const before = known.get(scenario);
      if (before !== undefined) return before;
      this.#emulations++;
      const { pltMs } = loadPage(this.#graph, scenario, assignment);
      known.set(scenario, pltMs);
      return pltMs;
    });
  }

  /** Those of the scenarios in which the assignment has been emulated. */
  known(assignment: Assignment, scenarios: readonly Scenario[]): Scenario[] {
    const known = this.#timesOf(assignment);
    return scenarios.filter((scenario) => known.has(scenario));
  }

  /** Notes times that were emulated elsewhere, in order of `scenarios`. */
  note(assignment: Assignment, scenarios: readonly Scenario[], pltMs: readonly number[]): void {
    const known = this.#timesOf(assignment);
    for (const [index, scenario] of scenarios.entries()) known.set(scenario, pltMs[index]!);
  }

  #timesOf(assignment: Assignment): Map<Scenario, number> {
    const key = this.#graph.origins.map((origin) => assignment[origin]).join();
    let times = this.#known.get(key);
    if (times === undefined) {
      times = new Map();
      this.#known.set(key, times);
    }
    return times;
  }
}
