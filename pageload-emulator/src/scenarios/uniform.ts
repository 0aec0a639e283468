import { type Assignment, median, type PaintTimes, type Protocol } from '@hopwise/contract';
import type { Emulated } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { PaintModel } from '../graph/paint-times.ts';
import { addOriginCounters, emptyCounters, type OriginCounters } from '../http/origin-client.ts';
import { EventBudget } from './event-budget.ts';
import { loadPage } from './load-page.ts';
import type { Scenario } from './scenario.ts';

/** The loads of all scenarios with every origin on one protocol. */
export interface UniformRun {
  protocol: Protocol;
  /** Load times in order of the scenarios, milliseconds. */
  pltMs: number[];
  /** Medians over the scenarios. */
  paint: PaintTimes;
  /** Mean counters over the scenarios, by origin. */
  origins: Map<string, OriginCounters>;
  /** Mean counters over the scenarios, summed over all origins. */
  total: OriginCounters;
}

/** Collects loads of one page with every origin on one protocol, in a growing number of scenarios. */
export class UniformLoads {
  readonly protocol: Protocol;
  /** Load times in order of the scenarios, milliseconds. */
  readonly pltMs: number[] = [];
  readonly #graph: PageGraph;
  readonly #paint: PaintModel;
  readonly #assignment: Assignment;
  readonly #budget: EventBudget;
  readonly #loads: Emulated[] = [];
  readonly #paints: PaintTimes[] = [];

  constructor(graph: PageGraph, paint: PaintModel, protocol: Protocol, budget = new EventBudget()) {
    this.#graph = graph;
    this.#paint = paint;
    this.protocol = protocol;
    this.#assignment = uniformAssignment(graph, protocol);
    this.#budget = budget;
  }

  /**
   * Loads the page in further scenarios.
   *
   * @throws EndlessLoadError when a load does not end
   */
  add(scenarios: readonly Scenario[]): void {
    const budget = this.#budget;
    for (const scenario of scenarios) {
      const load = loadPage(this.#graph, scenario, this.#assignment, { budget });
      this.#loads.push(load);
      this.pltMs.push(load.pltMs);
      // A paint may come after the load event, at which the emulation stops.
      const whole = this.#paint.isKnown(load.endMs)
        ? load
        : loadPage(this.#graph, scenario, this.#assignment, { budget, waterfall: true });
      this.#paints.push(this.#paint.timesOf(whole.endMs));
    }
  }

  /** Drops all but the first `count` scenarios. */
  keep(count: number): void {
    for (const each of [this.#loads, this.pltMs, this.#paints]) each.length = Math.min(count, each.length);
  }

  /** Summarises the loads. */
  run(): UniformRun {
    return {
      protocol: this.protocol,
      pltMs: this.pltMs,
      paint: {
        firstContentfulPaintMs: medianOf(this.#paints, 'firstContentfulPaintMs'),
        largestContentfulPaintMs: medianOf(this.#paints, 'largestContentfulPaintMs'),
      },
      ...meanCounters(this.#loads),
    };
  }
}

/** Assigns one protocol to every origin, whether it offers it or not. */
export function uniformAssignment(graph: PageGraph, protocol: Protocol): Assignment {
  return Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
}

function medianOf(paints: readonly PaintTimes[], name: keyof PaintTimes): number | null {
  const times = paints.flatMap((paint) => paint[name] ?? []);
  return times.length === 0 ? null : median(times);
}

function meanCounters(loads: readonly Emulated[]): Pick<UniformRun, 'origins' | 'total'> {
  const origins = new Map<string, OriginCounters>();
  for (const load of loads) {
    for (const outcome of load.origins) {
      const sum = origins.get(outcome.origin) ?? emptyCounters();
      origins.set(outcome.origin, addOriginCounters(sum, outcome, 1 / loads.length));
    }
  }
  const total = emptyCounters();
  for (const counters of origins.values()) addOriginCounters(total, counters);
  return { origins, total };
}
