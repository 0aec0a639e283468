import { type Assignment, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { unknownBefore } from '../emulate/browser-assignment.ts';
import { EndlessLoadError } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { EventBudget } from '../scenarios/event-budget.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { Scenario } from '../scenarios/scenario.ts';

/** One way in which the browser could load the page. */
export interface Candidate {
  assignment: Assignment;
  /** Whether the browser learns during the load which origins offer HTTP/3 (`Alt-Svc`), and begins with TCP. */
  discoversH3: boolean;
  /** Log of the load time in each scenario; infinite where the load does not end. */
  logTimes: number[];
}

/** Load times of candidates, each emulated once. */
export class Candidates {
  readonly list: Candidate[] = [];
  readonly #graph: PageGraph;
  readonly #scenarios: readonly Scenario[];
  readonly #budget: EventBudget;
  readonly #indexOf = new Map<string, number>();

  constructor(graph: PageGraph, scenarios: readonly Scenario[], budget: EventBudget) {
    this.#graph = graph;
    this.#scenarios = scenarios;
    this.#budget = budget;
  }

  /**
   * Adds a candidate unless it is there.
   *
   * @param known its load times in the scenarios, milliseconds, if they were emulated before
   * @returns its index in `list`
   */
  add(
    assignment: Assignment,
    { discoversH3 = false, known }: { discoversH3?: boolean; known?: readonly number[] } = {},
  ): number {
    const key = `${discoversH3} ${this.#graph.origins.map((origin) => assignment[origin]).join()}`;
    const before = this.#indexOf.get(key);
    if (before !== undefined) return before;
    const pltMs = known ?? this.#scenarios.map((scenario) => this.#load(assignment, scenario, discoversH3));
    const index = this.list.push({ assignment, discoversH3, logTimes: pltMs.map(Math.log) }) - 1;
    this.#indexOf.set(key, index);
    return index;
  }

  #load(assignment: Assignment, scenario: Scenario, discoversH3: boolean): number {
    const asked = discoversH3 ? { ...scenario, servers: scenario.servers.map(unknownBefore) } : scenario;
    try {
      return loadPage(this.#graph, asked, assignment, { budget: this.#budget }).pltMs;
    } catch (error) {
      if (error instanceof EndlessLoadError) return Number.POSITIVE_INFINITY;
      throw error;
    }
  }
}

/** Shares of an origin's requests by protocol. */
function sharesOf({ assignment, discoversH3 }: Candidate, origin: string): Partial<Record<Protocol, number>> {
  const protocol = assignment[origin]!;
  return discoversH3 && protocol === 'h3' ? { h2: 0.5, h3: 0.5 } : { [protocol]: 1 };
}

/**
 * How alike two candidates load the page: the share of its bytes that the same protocol carries, 0 to 1.
 *
 * @param weights share of each origin in the page's bytes
 */
export function likeness(a: Candidate, b: Candidate, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [origin, weight] of weights) {
    const own = sharesOf(a, origin);
    const other = sharesOf(b, origin);
    for (const protocol of PROTOCOLS) sum += weight * (own[protocol] ?? 0) * (other[protocol] ?? 0);
  }
  return sum;
}
