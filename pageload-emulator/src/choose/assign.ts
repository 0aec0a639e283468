import { type Assignment, groupBy, type Protocol } from '@hopwise/contract';
import { sumByOrigin } from '../graph/origin-sums.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { LoadTimes } from '../scenarios/load-times.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { createRandom } from '../util/random.ts';
import type { Choices } from './choices.ts';
import { originSlack, SLACK_SHARE, type SlackInput } from './slack.ts';

/** All assignments are tried when there are at most this many. */
const MAX_EXHAUSTIVE = 27;
/** With at most this many origins none is left out for its slack. */
export const FEW_ORIGINS = 6;
/** The heaviest origins are moved one by one; the others move together with those of the same offers. */
const MAX_SINGLE = 10;
const MAX_SWEEPS = 3;
/** A change is made when it saves at least this share. */
const MIN_SAVING = 0.0005;
/** A change whose mean regret over n scenarios exceeds this divided by n is given up. */
const GIVE_UP = 0.01;
/** Random starts, each of which moves about this share of the origins. */
const MAX_KICKS = 20;
const KICK_SHARE = 0.7;
/** Two changes, each with a regret below this on its own, may gain together. */
const NEAR = 0.02;

/** Origins that change their protocol together. */
interface Unit {
  origins: readonly string[];
  choices: readonly Protocol[];
}

/**
 * Finds the joint assignment with the smallest load time (geometric mean over scenarios). Origins share the bottleneck, so
 * one origin's protocol changes what is best for the others.
 *
 * A few combinations are tried exhaustively. More are searched by coordinate descent from several starts (each unit in turn
 * moves to its best protocol while the others stay, until nothing improves), then from random starts (iterated local search:
 * Lourenço, Martin and Stützle, Handbook of Metaheuristics, 2003), then by pairs of units, until the budget is used. A change
 * is tried in one scenario after another and given up early when it is slower. Of many origins, those with much slack keep
 * their protocol.
 *
 * @param starts assignments to begin at
 * @param budget emulations that the search may take; it also stops when they have cost too much (`EventBudget`)
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
  readonly #maxEmulations: number;
  readonly #random = createRandom(1);
  #units: readonly Unit[] = [];

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
    this.#maxEmulations = times.emulations + budget;
  }

  run(starts: readonly Assignment[]): Assignment {
    const free = this.#graph.origins.filter((origin) => this.#choices.get(origin)!.length > 1);
    const combinations = free.reduce((product, origin) => product * this.#choices.get(origin)!.length, 1);
    const uniform = distinct(starts);
    if (combinations <= MAX_EXHAUSTIVE) return this.#tryAll(this.#ranked(uniform)[0]!, free);
    if (this.#spent) return this.#ranked(uniform)[0]!;
    const watched = uniform.map((assignment) => ({
      assignment,
      load: loadPage(this.#graph, this.#scenarios[0]!, assignment, {
        budget: this.#times.budget,
        waterfall: true,
      }),
    }));
    this.#units = this.#unitsOf(watched.map(({ load }) => load));
    const ranked = this.#ranked(distinct([...uniform, quickest(this.#graph, watched)]));
    const [first, ...others] = ranked as [Assignment, ...Assignment[]];
    let best = this.#descend(first);
    for (const start of others) best = this.#better(best, start);
    for (let kick = 0; kick < MAX_KICKS && !this.#spent; kick++) {
      best = this.#better(best, this.#kicked(best));
    }
    return this.#changePairs(best);
  }

  /** Orders assignments by load time, the best first. */
  #ranked(assignments: readonly Assignment[]): Assignment[] {
    return assignments
      .map((assignment) => ({ assignment, cost: this.#cost(assignment) }))
      .sort((a, b) => a.cost - b.cost)
      .map(({ assignment }) => assignment);
  }

  #better(best: Assignment, start: Assignment): Assignment {
    if (this.#spent) return best;
    const other = this.#descend(start);
    return this.#saves(other, best, 0) ? other : best;
  }

  /** Moves origins to random protocols: a start near another local optimum. */
  #kicked(assignment: Assignment): Assignment {
    const kicked = { ...assignment };
    for (const [origin, offered] of this.#choices) {
      if (this.#random() < KICK_SHARE) kicked[origin] = offered[Math.floor(this.#random() * offered.length)]!;
    }
    return kicked;
  }

  /** Changes two units at once, pairs of the smallest regrets first, until no pair gains. */
  #changePairs(start: Assignment): Assignment {
    let best = start;
    for (;;) {
      const singles = this.#units
        .flatMap((unit) =>
          unit.choices.map((protocol) => ({ unit, protocol, regret: this.#regret(best, unit, protocol) })),
        )
        .filter(({ regret }) => regret > 0 && regret < NEAR);
      const pairs = singles
        .flatMap((a, index) =>
          singles
            .slice(index + 1)
            .flatMap((b) => (b.unit === a.unit ? [] : { a, b, regret: a.regret + b.regret })),
        )
        .sort((a, b) => a.regret - b.regret);
      const before = best;
      for (const { a, b } of pairs) {
        if (this.#spent) return best;
        const changed = move(move(best, a.unit, a.protocol), b.unit, b.protocol);
        if (this.#saves(changed, best, MIN_SAVING)) {
          best = changed;
          break;
        }
      }
      if (best === before) return best;
    }
  }

  /** Regret of a unit's change in the first scenario, as a share of the load time; 0 when it has not been emulated. */
  #regret(assignment: Assignment, unit: Unit, protocol: Protocol): number {
    const changed = move(assignment, unit, protocol);
    const first = this.#scenarios.slice(0, 1);
    if (this.#times.known(changed, first).length === 0) return 0;
    return this.#times.of(changed, first)[0]! / this.#times.of(assignment, first)[0]! - 1;
  }

  get #spent(): boolean {
    return this.#times.emulations >= this.#maxEmulations || this.#isTooExpensive;
  }

  get #isTooExpensive(): boolean {
    return this.#times.budget.isSpent('search');
  }

  #tryAll(start: Assignment, free: readonly string[]): Assignment {
    let best = start;
    const visit = (assignment: Assignment, at: number) => {
      if (this.#isTooExpensive) return;
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
    let best = start;
    for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      const before = best;
      for (const unit of this.#units) {
        for (const protocol of unit.choices) {
          if (this.#spent) return best;
          if (unit.origins.every((origin) => best[origin] === protocol)) continue;
          const moved = move(best, unit, protocol);
          if (this.#saves(moved, best, MIN_SAVING)) best = moved;
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

  /** Origins that can move the page, the heaviest first: those with a choice and little slack under one of the starts. */
  #unitsOf(loads: readonly SlackInput[]): Unit[] {
    const few = this.#graph.origins.length <= FEW_ORIGINS;
    const slacks = few ? [] : loads.map((load) => originSlack(this.#graph, load));
    const isMovable = (index: number) => few || slacks.some((slack) => slack[index]! < SLACK_SHARE);
    const sums = sumByOrigin(this.#graph);
    const movable = this.#graph.origins
      .filter((origin, index) => this.#choices.get(origin)!.length > 1 && isMovable(index))
      .sort((a, b) => sums.get(b)!.bytes - sums.get(a)!.bytes);
    const units = movable
      .slice(0, MAX_SINGLE)
      .map((origin): Unit => ({ origins: [origin], choices: this.#choices.get(origin)! }));
    const others = groupBy(movable.slice(MAX_SINGLE), (origin) => this.#choices.get(origin)!.join());
    for (const origins of others.values()) {
      units.push({ origins, choices: this.#choices.get(origins[0]!)! });
    }
    return units;
  }
}

function move(assignment: Assignment, { origins }: Unit, protocol: Protocol): Assignment {
  const moved = { ...assignment };
  for (const origin of origins) moved[origin] = protocol;
  return moved;
}

/** Assigns each origin the protocol of the load in which its requests took the least time. */
function quickest(
  graph: PageGraph,
  watched: readonly { assignment: Assignment; load: SlackInput }[],
): Assignment {
  const originOf = new Map<number, number>();
  for (const activity of graph.activities) {
    if (activity.kind === 'fetch') originOf.set(activity.requestId, activity.origin);
  }
  const took = watched.map(({ load }) => {
    const sums = new Float64Array(graph.origins.length);
    for (const { requestId, startMs, endMs } of load.entries)
      sums[originOf.get(requestId)!]! += endMs - startMs;
    return sums;
  });
  return Object.fromEntries(
    graph.origins.map((origin, index) => {
      const fastest = took.reduce((best, sums, at) => (sums[index]! < took[best]![index]! ? at : best), 0);
      return [origin, watched[fastest]!.assignment[origin]!];
    }),
  );
}

function distinct(assignments: readonly Assignment[]): Assignment[] {
  return [...new Map(assignments.map((assignment) => [JSON.stringify(assignment), assignment])).values()];
}
