import type { PageGraph } from '../graph/page-graph.ts';
import type { Assignment, Protocol } from '../protocol.ts';
import type { Choices } from './choices.ts';
import type { LoadTimes } from './load-times.ts';
import type { Scenario } from './scenarios.ts';
import { originSlack, SLACK_SHARE } from './slack.ts';

/** Up to so many assignments all of them are tried. */
const MOST_EXHAUSTIVE = 27;
/** Origins that are moved one by one, the heaviest; the others of the same offers move together. */
const MOST_SINGLE = 10;
const MOST_SWEEPS = 3;
/** A change must save at least this share to be made. */
const LEAST_SAVING = 0.002;
/** A change that loses more than this over the scenarios so far, divided by their number, is given up. */
const GIVE_UP = 0.01;

/** Origins that change their protocol together. */
interface Unit {
  origins: readonly string[];
  choices: readonly Protocol[];
}

/**
 * Finds the joint assignment with the least load time (geometric mean over scenarios). One origin's protocol changes
 * what the others find at the bottleneck, so origins are not chosen apart.
 *
 * Few combinations are all tried; else coordinate descent from two starts: unit by unit, each moved to its best protocol with the
 * others held, until nothing improves or the budget is used. A change is tried in one scenario after another and given
 * up as soon as it loses (racing); origins whose requests could end much later stay where they are.
 *
 * @param starts assignments to begin at
 * @param budget emulations that the search may take
 */
export function assign(
  graph: PageGraph,
  choices: Choices,
  scenarios: readonly Scenario[],
  starts: readonly Assignment[],
  times: LoadTimes,
  budget: number,
): Assignment {
  return new Search(graph, choices, scenarios, times, budget).run(starts);
}

class Search {
  readonly #graph: PageGraph;
  readonly #choices: Choices;
  readonly #scenarios: readonly Scenario[];
  readonly #times: LoadTimes;
  readonly #last: number;

  constructor(
    graph: PageGraph,
    choices: Choices,
    scenarios: readonly Scenario[],
    times: LoadTimes,
    budget: number,
  ) {
    this.#graph = graph;
    this.#choices = choices;
    this.#scenarios = scenarios;
    this.#times = times;
    this.#last = times.emulations + budget;
  }

  run(starts: readonly Assignment[]): Assignment {
    const free = this.#graph.origins.filter((origin) => this.#choices.get(origin)!.length > 1);
    const combinations = free.reduce((product, origin) => product * this.#choices.get(origin)!.length, 1);
    const ranked = distinct(starts)
      .map((assignment) => ({ assignment, cost: this.#cost(assignment) }))
      .sort((a, b) => a.cost - b.cost)
      .map(({ assignment }) => assignment);
    const [first, second] = ranked as [Assignment, Assignment | undefined];
    if (combinations <= MOST_EXHAUSTIVE) return this.#tryAll(first, free);
    const found = this.#descend(first);
    if (second === undefined || this.#spent) return found;
    const other = this.#descend(second);
    return this.#saves(other, found, 0) ? other : found;
  }

  get #spent(): boolean {
    return this.#times.emulations >= this.#last;
  }

  #tryAll(start: Assignment, free: readonly string[]): Assignment {
    let best = start;
    const visit = (assignment: Assignment, at: number) => {
      const origin = free[at];
      if (origin === undefined) {
        if (this.#saves(assignment, best, 0)) best = assignment;
        return;
      }
      for (const protocol of this.#choices.get(origin)!) visit({ ...assignment, [origin]: protocol }, at + 1);
    };
    visit(start, 0);
    return best;
  }

  #descend(start: Assignment): Assignment {
    const units = this.#unitsOf(start);
    let best = start;
    for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
      const before = best;
      for (const { origins, choices } of units) {
        for (const protocol of choices) {
          if (this.#spent) return best;
          const moved = { ...best };
          for (const origin of origins) moved[origin] = protocol;
          if (origins.every((origin) => best[origin] === protocol)) continue;
          if (this.#saves(moved, best, LEAST_SAVING)) best = moved;
        }
      }
      if (best === before) break;
    }
    return best;
  }

  /** Whether `changed` takes less than `than` by more than `share`. */
  #saves(changed: Assignment, than: Assignment, share: number): boolean {
    let sum = 0;
    for (const [index, scenario] of this.#scenarios.entries()) {
      const [time] = this.#times.of(changed, [scenario]);
      const [before] = this.#times.of(than, [scenario]);
      sum += Math.log(time! / before!);
      const mean = sum / (index + 1);
      if (mean > GIVE_UP / (index + 1)) return false;
    }
    return sum / this.#scenarios.length < -share;
  }

  #cost(assignment: Assignment): number {
    const times = this.#times.of(assignment, this.#scenarios);
    return times.reduce((sum, time) => sum + Math.log(time), 0) / times.length;
  }

  /** What can move the page: origins that have a choice and whose requests end late enough, the heaviest first. */
  #unitsOf(assignment: Assignment): Unit[] {
    const slack = originSlack(this.#graph, assignment, this.#scenarios[0]!);
    const bytes = originBytes(this.#graph);
    const movable = this.#graph.origins
      .filter((origin, index) => this.#choices.get(origin)!.length > 1 && slack[index]! < SLACK_SHARE)
      .sort((a, b) => bytes.get(b)! - bytes.get(a)!);
    const units = movable
      .slice(0, MOST_SINGLE)
      .map((origin): Unit => ({ origins: [origin], choices: this.#choices.get(origin)! }));
    const together = new Map<string, string[]>();
    for (const origin of movable.slice(MOST_SINGLE)) {
      const key = this.#choices.get(origin)!.join();
      const others = together.get(key);
      if (others) others.push(origin);
      else together.set(key, [origin]);
    }
    for (const origins of together.values()) {
      units.push({ origins, choices: this.#choices.get(origins[0]!)! });
    }
    return units;
  }
}

function distinct(assignments: readonly Assignment[]): Assignment[] {
  return [...new Map(assignments.map((assignment) => [JSON.stringify(assignment), assignment])).values()];
}

function originBytes(graph: PageGraph): Map<string, number> {
  const bytes = new Map(graph.origins.map((origin) => [origin, 0]));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const origin = graph.origins[activity.origin]!;
    bytes.set(origin, bytes.get(origin)! + activity.responseBytes);
  }
  return bytes;
}
