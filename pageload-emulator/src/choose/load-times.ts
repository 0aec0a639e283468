import { emulate } from '../emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { ServerProfile } from '../path/network-path.ts';
import type { Assignment } from '../protocol.ts';
import type { Scenario } from './scenarios.ts';

/** Load times of a page by assignment and scenario, each emulated once. */
export class LoadTimes {
  readonly #graph: PageGraph;
  readonly #servers: readonly ServerProfile[];
  readonly #known = new Map<string, Map<Scenario, number>>();

  constructor(graph: PageGraph, servers: readonly ServerProfile[]) {
    this.#graph = graph;
    this.#servers = servers;
  }

  /** In order of `scenarios`, which are told apart by identity. */
  of(assignment: Assignment, scenarios: readonly Scenario[]): number[] {
    const key = this.#graph.origins.map((origin) => assignment[origin]).join();
    let times = this.#known.get(key);
    if (times === undefined) {
      times = new Map();
      this.#known.set(key, times);
    }
    const known = times;
    return scenarios.map((scenario) => {
      const before = known.get(scenario);
      if (before !== undefined) return before;
      const { path, seed } = scenario;
      const { pltMs } = emulate(this.#graph, path, this.#servers, assignment, { seed });
      known.set(scenario, pltMs);
      return pltMs;
    });
  }

  /** Notes times that were emulated elsewhere, in order of `scenarios`. */
  note(assignment: Assignment, scenarios: readonly Scenario[], pltMs: readonly number[]): void {
    const key = this.#graph.origins.map((origin) => assignment[origin]).join();
    this.#known.set(key, new Map(scenarios.map((scenario, index) => [scenario, pltMs[index]!])));
  }
}
