import { type Assignment, mean, type OriginRecommendation, type Protocol } from '@hopwise/contract';
import { sumByOrigin } from '../graph/origin-sums.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { EventBudget } from '../scenarios/event-budget.ts';
import { loadPage } from '../scenarios/load-page.ts';
import type { LoadTimes } from '../scenarios/load-times.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { ORIGIN_SHARE } from '../scenarios/spread.ts';
import type { Choices } from './choices.ts';
import { isDecided, probabilityOfLeast } from './confidence.ts';
import type { JointChoice } from './joint-assignment.ts';
import { originSlack, SLACK_SHARE } from './slack.ts';

/** One origin's protocol, and what the page gains by it. */
export interface OriginChoice extends Omit<OriginRecommendation, 'reason'> {
  /** The next best protocol; null when none was compared. */
  rival: Protocol | null;
  /** Whether the origin offers nothing else. */
  isOnlyOffer: boolean;
  /** Whether other protocols were left out because emulating the page takes long. */
  isUntried: boolean;
  /** The page's load time with the origin on `rival` less that with it on `protocol`, milliseconds. */
  gainMs: number;
  /** The page's load time as assigned, milliseconds. */
  pageMs: number;
}

/** The choices for all origins. */
export interface OriginChoices {
  origins: OriginChoice[];
  /** Origins for which no other protocol was tried, as the budget did not allow it. */
  untried: number;
}

/**
 * Compares, for each origin, its assigned protocol with the others that it offers while all other origins stay as assigned.
 * Origins with the most bytes come first, in case the budget runs out.
 *
 * @returns in order of `graph.origins`; `untried` counts origins that the budget did not allow
 */
export function chooseByOrigin(
  graph: PageGraph,
  choices: Choices,
  { assignment, searched: scenarios }: Pick<JointChoice, 'assignment' | 'searched'>,
  loadTimes: LoadTimes,
): OriginChoices {
  const { budget } = loadTimes;
  const slack = slackOf(graph, scenarios[0]!, assignment, budget);
  const sums = [...sumByOrigin(graph).values()];
  const pageMs = mean(loadTimes.of(assignment, scenarios));

  const chooseFor = (index: number): OriginChoice => {
    const origin = graph.origins[index]!;
    const protocol = assignment[origin]!;
    const offered = choices.get(origin)!;
    // Requests with that much time to spare do not move the page, whatever carries them.
    const others = slack[index]! < SLACK_SHARE ? offered.filter((candidate) => candidate !== protocol) : [];
    const isUntried = others.length > 0 && budget.isSpent('origins');
    const rivals = (isUntried ? [] : others)
      .map((candidate) => moveTo(candidate, { ...assignment, [origin]: candidate }))
      .filter(({ ratios }) => ratios.every(Number.isFinite))
      .sort((a, b) => mean(a.ratios) - mean(b.ratios));
    const rival = rivals[0];
    const rivalMs = rival ? pageMs * mean(rival.ratios) : pageMs;
    const confidence = rival
      ? probabilityOfLeast(
          [1],
          rivals.map(({ ratios }) => [geometricMean(ratios)]),
          ORIGIN_SHARE,
        )
      : 1 / offered.length;
    return {
      origin,
      ...sums[index]!,
      protocol,
      margin: Math.max(0, 1 - pageMs / rivalMs),
      confidence,
      pltMs: Object.fromEntries([
        [protocol, pageMs],
        ...rivals.map((each) => [each.protocol, pageMs * mean(each.ratios)] as const),
      ]),
      decided: rival !== undefined && isDecided(pageMs, rivalMs, confidence),
      rival: rival?.protocol ?? null,
      isOnlyOffer: offered.length === 1,
      isUntried,
      gainMs: rivalMs - pageMs,
      pageMs,
    };
  };

  /** Load times of a move relative to the assignment's, in the scenarios that the search has emulated; at least one. */
  function moveTo(candidate: Protocol, moved: Assignment) {
    const known = loadTimes.known(moved, scenarios);
    const seen = known.length > 0 ? known : scenarios.slice(0, 1);
    const before = loadTimes.of(assignment, seen);
    const ratios = loadTimes.of(moved, seen).map((time, at) => time / before[at]!);
    return { protocol: candidate, ratios };
  }

  const origins = new Array<OriginChoice>(graph.origins.length);
  const heaviestFirst = [...graph.origins.keys()].sort((a, b) => sums[b]!.bytes - sums[a]!.bytes);
  for (const index of heaviestFirst) origins[index] = chooseFor(index);
  return { origins, untried: origins.filter(({ isUntried }) => isUntried).length };
}

function slackOf(
  graph: PageGraph,
  scenario: Scenario,
  assignment: Assignment,
  budget: EventBudget,
): number[] {
  if (budget.isSpent('origins')) return graph.origins.map(() => 0);
  return originSlack(graph, loadPage(graph, scenario, assignment, { budget, waterfall: true }));
}

const geometricMean = (values: readonly number[]): number => Math.exp(mean(values.map(Math.log)));
