import type { Assignment } from '@hopwise/contract';
import { HOUR_MS } from '@hopwise/contract';
import { unknownBefore } from '../emulate/browser-assignment.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { LoadTimes } from '../scenarios/load-times.ts';
import type { Scenario } from '../scenarios/scenario.ts';

/** One way in which the browser could load the page. */
export interface Candidate {
  assignment: Assignment;
  /** Whether the browser learns during the load which origins offer HTTP/3 (`Alt-Svc`), and begins with TCP. */
  discoversH3: boolean;
  /** Emulated load time in each scenario, milliseconds. */
  pltMs: readonly number[];
}

/** Whether the browser uses HTTP/3 for an origin, from the start or once it has learned that the origin offers it. */
export const usesH3 = ({ assignment }: Pick<Candidate, 'assignment'>): boolean =>
  Object.values(assignment).includes('h3');

/** Bounds of emulated times, whose logarithms are compared: an empty page takes no time, and some loads do not end, milliseconds. */
export const SHORTEST_MS = 1;
const ENDLESS_MS = HOUR_MS;

/** The candidates of a page, each once. */
export class Candidates {
  readonly #graph: PageGraph;
  readonly #scenarios: readonly Scenario[];
  readonly #loadTimes: LoadTimes;
  readonly #byBehaviour = new Map<string, Candidate>();

  constructor(graph: PageGraph, scenarios: readonly Scenario[], loadTimes: LoadTimes) {
    this.#graph = graph;
    this.#scenarios = scenarios;
    this.#loadTimes = loadTimes;
  }

  /** All candidates in the order in which they were added. */
  get all(): Candidate[] {
    return [...this.#byBehaviour.values()];
  }

  /** The candidate that begins with an assignment; undefined for none. */
  find(assignment: Assignment): Candidate | undefined {
    return this.#byBehaviour.get(this.#keyOf(assignment, false));
  }

  /** Returns the candidate, which is emulated unless it is there. */
  add(assignment: Assignment, discoversH3 = false): Candidate {
    const key = this.#keyOf(assignment, discoversH3);
    const known = this.#byBehaviour.get(key);
    if (known !== undefined) return known;
    const scenarios = discoversH3 ? this.#scenarios.map(beforeDiscovery) : this.#scenarios;
    const pltMs = this.#loadTimes.of(assignment, scenarios).map(bounded);
    const candidate = { assignment, discoversH3, pltMs };
    this.#byBehaviour.set(key, candidate);
    return candidate;
  }

  #keyOf(assignment: Assignment, discoversH3: boolean): string {
    return `${discoversH3} ${this.#graph.origins.map((origin) => assignment[origin]).join()}`;
  }
}

const bounded = (pltMs: number): number =>
  Number.isFinite(pltMs) ? Math.max(SHORTEST_MS, pltMs) : ENDLESS_MS;

const beforeDiscovery = (scenario: Scenario): Scenario => ({
  ...scenario,
  servers: scenario.servers.map(unknownBefore),
});
