import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import type { Cause } from '../trace/critical-path.ts';
import { worstHoldup } from '../trace/worst-holdup.ts';
import { connectClause, type Side, sixConnectionsClause, transferClause } from './cause-sentences.ts';
import { holdupSentence } from './holdup-sentence.ts';
import type { Sentences } from './sentences/english.ts';

/** Smaller savings on the way to the load event, milliseconds, are not named. */
const MIN_SAVED_MS = 3;
/** Nor are those below this share of the lead. */
const MIN_SAVED_SHARE = 0.1;
const MAX_REASONS = 3;
/** Smaller leads that are not sure are not explained. */
const MIN_EXPLAINED_SHARE = 0.1;

/** The page and the network that reasons are given for. */
export interface ReasonContext {
  graph: PageGraph;
  path: NetworkPath;
  servers: readonly ServerProfile[];
}

/** What page reasons are made from. */
export type PageChoice = Pick<Choice, 'uniform' | 'times' | 'confidence' | 'decided' | 'traced'>;

/** Explains in sentences why the best protocol wins against the runner-up, or why none clearly does. */
export function pageReasons(context: ReasonContext, choice: PageChoice, sentences: Sentences): string[] {
  const [best, rival] = choice.uniform as [UniformRun, UniformRun?];
  const { page, causes } = sentences;
  if (rival === undefined) return [page.onlyOne(best.protocol)];
  const bestMs = choice.times[best.protocol]!.pltMs;
  const rivalMs = choice.times[rival.protocol]!.pltMs;
  const gainMs = rivalMs - bestMs;
  if (gainMs <= 0) return [page.equal(best.protocol, rival.protocol)];
  const doubts = choice.decided
    ? []
    : [page.doubt(best.protocol, bestMs, rival.protocol, rivalMs, choice.confidence)];
  if (!choice.decided && gainMs < MIN_EXPLAINED_SHARE * rivalMs) return doubts;
  const own = choice.traced(best.protocol).causes;
  const other = choice.traced(rival.protocol).causes;
  const saved = (Object.keys(own) as Cause[])
    .map((cause) => ({ cause, savedMs: other[cause] - own[cause] }))
    .filter(({ savedMs }) => savedMs >= Math.max(MIN_SAVED_MS, MIN_SAVED_SHARE * gainMs))
    .sort((a, b) => b.savedMs - a.savedMs)
    .slice(0, MAX_REASONS);
  const reasons = saved.flatMap(({ cause, savedMs }) => {
    const why = causeClause(cause, context, choice, [best, rival], sentences);
    return why === null ? [] : [page.saves(best.protocol, savedMs, why)];
  });
  if (rival.total.policed >= 1) reasons.unshift(causes.policed(rival.total.policed));
  if (doubts.length === 0 && reasons.length === 0) return [page.manySmall()];
  return [...doubts, ...reasons];
}

function causeClause(
  cause: Cause,
  { graph, path, servers }: ReasonContext,
  { traced }: PageChoice,
  [best, rival]: [UniformRun, UniformRun],
  sentences: Sentences,
): string | null {
  const { causes } = sentences;
  const winner: Side = { protocol: best.protocol, counters: best.total };
  const loser: Side = { protocol: rival.protocol, counters: rival.total };
  switch (cause) {
    case 'connect':
      return connectClause(winner, loser, path, causes);
    case 'turn':
      return loser.protocol === 'h1' && loser.counters.waitedForConnection > 0
        ? sixConnectionsClause(loser.counters, causes)
        : causes.turnClause(loser.protocol);
    case 'loss': {
      const worst = worstHoldup(graph, traced(loser.protocol).trace);
      if (worst === null) return null;
      return worst.held.length === 0
        ? causes.ownLossesClause(loser.protocol)
        : holdupSentence(worst, loser.protocol, sentences);
    }
    case 'transfer':
      return transferClause(winner, loser, servers, causes);
    case 'roundTrip':
    case 'server':
    case 'script':
    case 'page':
      // The same work on another path explains nothing.
      return null;
  }
}
