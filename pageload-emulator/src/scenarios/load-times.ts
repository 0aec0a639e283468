import type { Assignment } from '@hopwise/contract';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { EventBudget } from './event-budget.ts';
import { loadPage } from './load-page.ts';
import type { Scenario } from './scenario.ts';

/** Load times of a page by assignment and scenario, milliseconds; each is emulated once. Infinite when a load does not end. */
export class LoadTimes {
  readonly budget: EventBudget;
  readonly #graph: PageGraph;
  readonly #known = new Map<string, Map<Scenario, number>>();
  #emulations = 0;

  constructor(graph: PageGraph, budget = new EventBudget()) {
    this.#graph = graph;
    this.budget = budget;
  }

  /** Loads emulated so far. */
  get emulations(): number {
    return this.#emulations;
  }

  /** Returns load times in order of `scenarios`, which are compared by identity. */
  of(assignment: Assignment, scenarios: readonly Scenario[]): number[] {
    const known = this.#timesOf(assignment);
    return scenarios.map((scenario) => {
      const before = known.get(scenario);
      if (before !== undefined) return before;
      this.#emulations++;
      const pltMs = this.#emulate(assignment, scenario);
      known.set(scenario, pltMs);
      return pltMs;
    });
  }

  /** Returns those of the scenarios in which the assignment has been emulated. */
  known(assignment: Assignment, scenarios: readonly Scenario[]): Scenario[] {
    const known = this.#timesOf(assignment);
    return scenarios.filter((scenario) => known.has(scenario));
  }

  /** Adds times that were emulated elsewhere, in order of `scenarios`. */
  note(assignment: Assignment, scenarios: readonly Scenario[], pltMs: readonly number[]): void {
    const known = this.#timesOf(assignment);
    for (const [index, scenario] of scenarios.entries()) known.set(scenario, pltMs[index]!);
  }

  #emulate(assignment: Assignment, scenario: Scenario): number {
    try {
      return loadPage(this.#graph, scenario, assignment, { budget: this.budget }).pltMs;
    } catch (error) {
      if (error instanceof EndlessLoadError) return Number.POSITIVE_INFINITY;
      throw error;
    }
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
