import { mean, median } from '@hopwise/contract';
import type { Scenario } from '../scenarios/scenario.ts';
import { browserLoadMs } from './browser-load.ts';
import type { ServedPage } from './document.ts';
import type { Improvement, Visit } from './improvements.ts';

/** A network with its share of the visitors, as scenarios to emulate a page in. */
export interface AdvisedNetwork {
  name: string;
  share: number;
  scenarios: readonly Scenario[];
}

/** What a change gains, as shares of the load time; negative for a loss. */
export interface Gain {
  /** Mean over the networks by their shares. */
  gain: number;
  /** Median over the scenarios of each network. */
  networks: { name: string; gain: number }[];
  /** Share of the loads, by the networks' shares, that take over 1% less time. */
  helps: number;
  /** Share of the loads that take over 5% more time. */
  harms: number;
}

/** A load that takes less than this share of the time before is helped; it is harmed when it takes more than `HARMS`. */
const HELPS = 0.99;
const HARMS = 1.05;

/** An improvement, and the origins whose servers get it. */
interface PlacedImprovement {
  improvement: Improvement;
  origins: ReadonlySet<string>;
}

/** Measures gains on one page. Loads before any change are emulated once for each visit and scenario. */
export class GainMeter {
  readonly #page: ServedPage;
  readonly #networks: readonly AdvisedNetwork[];
  readonly #before = new Map<string, number>();

  constructor(page: ServedPage, networks: readonly AdvisedNetwork[]) {
    this.#page = page;
    this.#networks = networks;
  }

  /**
   * Compares loads in the same scenarios with and without some changes.
   *
   * @param changes all for the same visit
   */
  measure(changes: readonly PlacedImprovement[]): Gain {
    const visit = changes[0]?.improvement.visit ?? 'first';
    const graph = changes.reduce(
      (changed, { improvement, origins }) =>
        // What is possible nowhere changes nothing, also where the change of the graph is that of the whole page.
        (origins.size > 0 && improvement.changeGraph?.({ ...this.#page, graph: changed }, origins)) ||
        changed,
      this.#page.graph,
    );
    let gain = 0;
    let helps = 0;
    let harms = 0;
    const networks = this.#networks.map(({ name, share, scenarios }) => {
      const ratios = scenarios.map((scenario, index) => {
        const before = this.#beforeMs(`${visit} ${name} ${index}`, scenario, visit);
        return ratioOf(browserLoadMs(graph, changedScenario(scenario, changes), visit), before);
      });
      const ofNetwork = 1 - median(ratios);
      gain += share * ofNetwork;
      helps += share * mean(ratios.map((ratio) => (ratio < HELPS ? 1 : 0)));
      harms += share * mean(ratios.map((ratio) => (ratio > HARMS ? 1 : 0)));
      return { name, gain: ofNetwork };
    });
    return { gain, networks, helps, harms };
  }

  #beforeMs(key: string, scenario: Scenario, visit: Visit): number {
    let pltMs = this.#before.get(key);
    if (pltMs === undefined) {
      pltMs = browserLoadMs(this.#page.graph, scenario, visit);
      this.#before.set(key, pltMs);
    }
    return pltMs;
  }
}

/** A load that does not end counts as this many times as long. */
const MAX_RATIO = 10;

function ratioOf(afterMs: number, beforeMs: number): number {
  if (afterMs === beforeMs) return 1;
  return Math.min(MAX_RATIO, Math.max(1 / MAX_RATIO, afterMs / beforeMs));
}

function changedScenario(scenario: Scenario, changes: readonly PlacedImprovement[]): Scenario {
  const servers = scenario.servers.map((server) =>
    changes.reduce(
      (changed, { improvement, origins }) =>
        origins.has(server.origin)
          ? (improvement.changeServer?.(changed, scenario.path) ?? changed)
          : changed,
      server,
    ),
  );
  return { ...scenario, servers };
}
