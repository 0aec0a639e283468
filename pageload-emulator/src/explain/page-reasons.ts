import { type NetworkPath, PROTOCOL_NAME, type ServerProfile } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import type { Cause } from '../trace/critical-path.ts';
import { worstHoldup } from '../trace/worst-holdup.ts';
import {
  connectClause,
  policedSentence,
  type Side,
  sixConnectionsClause,
  transferClause,
} from './cause-sentences.ts';
import { holdupSentence } from './holdup-sentence.ts';
import { ms, percent } from './words.ts';

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
export function pageReasons(context: ReasonContext, choice: PageChoice): string[] {
  const [best, rival] = choice.uniform as [UniformRun, UniformRun?];
  const winnerName = PROTOCOL_NAME[best.protocol];
  if (rival === undefined) return [`Only ${winnerName} loads the page on this network.`];
  const loserName = PROTOCOL_NAME[rival.protocol];
  const bestMs = choice.times[best.protocol]!.pltMs;
  const rivalMs = choice.times[rival.protocol]!.pltMs;
  const gainMs = rivalMs - bestMs;
  if (gainMs <= 0) {
    return [`${winnerName} and ${loserName} are about equal here. ${winnerName} is slightly safer.`];
  }
  const doubts = choice.decided
    ? []
    : [
        `${winnerName} (${ms(bestMs)}) and ${loserName} (${ms(rivalMs)}) ` +
          `differ by ${percent(gainMs / rivalMs)}, and the chance that ${winnerName} is the fastest is ${percent(choice.confidence)}.`,
      ];
  if (!choice.decided && gainMs < MIN_EXPLAINED_SHARE * rivalMs) return doubts;
  const own = choice.traced(best.protocol).causes;
  const other = choice.traced(rival.protocol).causes;
  const saved = (Object.keys(own) as Cause[])
    .map((cause) => ({ cause, savedMs: other[cause] - own[cause] }))
    .filter(({ savedMs }) => savedMs >= Math.max(MIN_SAVED_MS, MIN_SAVED_SHARE * gainMs))
    .sort((a, b) => b.savedMs - a.savedMs)
    .slice(0, MAX_REASONS);
  const sentences = saved.flatMap(({ cause, savedMs }) => {
    const why = causeClause(cause, context, choice, best, rival);
    return why === null ? [] : [`${winnerName} saves ${ms(savedMs)} on the way to the load event: ${why}`];
  });
  if (rival.total.policed >= 1) sentences.unshift(policedSentence(rival.total));
  if (doubts.length === 0 && sentences.length === 0)
    return ['Many small differences add up; no single one stands out.'];
  return [...doubts, ...sentences];
}

function causeClause(
  cause: Cause,
  { graph, path, servers }: ReasonContext,
  { traced }: PageChoice,
  best: UniformRun,
  rival: UniformRun,
): string | null {
  const winner: Side = { protocol: best.protocol, counters: best.total };
  const loser: Side = { protocol: rival.protocol, counters: rival.total };
  switch (cause) {
    case 'connect':
      return connectClause(winner, loser, path);
    case 'turn':
      return loser.protocol === 'h1' && loser.counters.waitedForConnection > 0
        ? sixConnectionsClause(loser.counters)
        : `requests wait longer for their turn on ${PROTOCOL_NAME[loser.protocol]}.`;
    case 'loss': {
      const worst = worstHoldup(graph, traced(loser.protocol).trace);
      if (worst === null) return null;
      return worst.held.length === 0
        ? `on ${PROTOCOL_NAME[loser.protocol]} responses wait for their own lost packets.`
        : holdupSentence(worst, loser.protocol);
    }
    case 'transfer':
      return transferClause(winner, loser, servers);
    case 'roundTrip':
    case 'server':
    case 'script':
    case 'page':
      // The same work on another path explains nothing.
      return null;
  }
}
