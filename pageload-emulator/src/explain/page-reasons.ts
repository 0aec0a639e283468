import type { NetworkPath, Protocol, ServerProfile } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { Decided } from '../decide/decide.ts';
import { isAboutEqual, type Standing } from '../decide/standing.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import type { Cause } from '../trace/critical-path.ts';
import { worstHoldup } from '../trace/worst-holdup.ts';
import {
  accountsFor,
  connectClause,
  holdupSentence,
  type Side,
  sixConnectionsClause,
  transferClause,
} from './cause-sentences.ts';
import type { Sentences } from './sentences/english.ts';

/** Smaller savings on the way to the load event, milliseconds, are not named. */
const MIN_SAVED_MS = 3;
/** Nor are those below this share of the lead. */
const MIN_SAVED_SHARE = 0.1;
const MAX_REASONS = 3;
/** A rival whose 90th percentile is as many times the best one's may take far longer. */
const FAR_LONGER = 1.5;
/** Where HTTP/3 is the fastest with a higher probability, its reason names the condition: that UDP passes. */
const PROBABLE = 0.5;
/** Smaller leads that are not sure are not explained. */
const MIN_EXPLAINED_SHARE = 0.1;

/** The page and the network that reasons are given for. */
export interface ReasonContext {
  graph: PageGraph;
  path: NetworkPath;
  servers: readonly ServerProfile[];
}

/** What page reasons are made from. */
type ExplainedChoice = Pick<Choice, 'uniform' | 'times' | 'traced'>;

/**
 * Explains in sentences why the best protocol wins against the runner-up, or what it wins by if it does. How much longer the runner-up
 * takes, how sure that is, and which protocols are about equal, the decision's evidence says. Figures of the whole load are the
 * decision's; what is saved on the way is of emulated loads, and is named only where these agree with the decision.
 */
export function pageReasons(
  context: ReasonContext,
  choice: ExplainedChoice,
  standing: Standing & Pick<Decided, 'avoidedPolicer' | 'isUdpShown'>,
  sentences: Sentences,
): string[] {
  const { page, causes } = sentences;
  const { bestMs, rivalMs, decided, confidence, avoidedPolicer, isUdpShown } = standing;
  const best = choice.uniform.find(({ protocol }) => protocol === standing.best)!;
  const rival = choice.uniform.find(({ protocol }) => protocol === standing.rival);
  if (rival === undefined) return [page.onlyOne(best.protocol)];
  const gainMs = rivalMs - bestMs;
  const highOf = (protocol: Protocol) => choice.times[protocol]!.high;
  if (avoidedPolicer !== null) return [page.saferUnlessPoliced(best.protocol, avoidedPolicer.timesAsLong)];
  if (gainMs <= 0 && highOf(rival.protocol) >= FAR_LONGER * highOf(best.protocol))
    return [page.safer(best.protocol, rival.protocol)];
  if (gainMs <= 0 || (!decided && isAboutEqual(rivalMs, bestMs))) return [];
  const needsUdp = !decided && best.protocol === 'h3' && !isUdpShown && confidence > PROBABLE;
  const doubts = needsUdp ? [page.fastestIfUdpPasses()] : [];
  if (!decided && gainMs < MIN_EXPLAINED_SHARE * rivalMs) return doubts;
  const emulatedMs = choice.times[rival.protocol]!.pltMs - choice.times[best.protocol]!.pltMs;
  if (emulatedMs <= 0) return decided ? [page.manySmall()] : doubts;
  const own = choice.traced(best.protocol).causes;
  const other = choice.traced(rival.protocol).causes;
  const saved = savings(own, other, gainMs)
    .filter(({ savedMs }) => savedMs >= Math.max(MIN_SAVED_MS, MIN_SAVED_SHARE * gainMs))
    .sort((a, b) => b.savedMs - a.savedMs)
    .slice(0, MAX_REASONS);
  const reasons = saved.flatMap(({ cause, savedMs }) => {
    const why = causeClause({ cause, savedMs }, context, choice, [best, rival], sentences);
    return why === null ? [] : [page.saves(best.protocol, savedMs, why)];
  });
  if (rival.total.policed >= 1) reasons.unshift(causes.policed(rival.total.policed));
  if (decided && reasons.length === 0) return [page.manySmall()];
  return [...doubts, ...reasons];
}

/** What the causes save, scaled where they are more than the answer's gain: other causes, or experience, take the rest back. */
function savings(
  own: Record<Cause, number>,
  other: Record<Cause, number>,
  gainMs: number,
): { cause: Cause; savedMs: number }[] {
  const saved = (Object.keys(own) as Cause[])
    .map((cause) => ({ cause, savedMs: other[cause] - own[cause] }))
    .filter(({ savedMs }) => savedMs > 0);
  const sum = saved.reduce((total, { savedMs }) => total + savedMs, 0);
  const scale = Math.min(1, gainMs / sum);
  return saved.map(({ cause, savedMs }) => ({ cause, savedMs: scale * savedMs }));
}

function causeClause(
  { cause, savedMs }: { cause: Cause; savedMs: number },
  { graph, path, servers }: ReasonContext,
  { traced }: ExplainedChoice,
  [best, rival]: [UniformRun, UniformRun],
  sentences: Sentences,
): string | null {
  const { causes } = sentences;
  const winner: Side = { protocol: best.protocol, counters: best.total };
  const loser: Side = { protocol: rival.protocol, counters: rival.total };
  switch (cause) {
    case 'connect': {
      const steps = traced(loser.protocol).path.filter((step) => (step.causes.connect ?? 0) > 0);
      return connectClause(winner, loser, { ms: savedMs, trips: steps.length }, path, causes);
    }
    case 'turn':
      return loser.protocol === 'h1' && accountsFor(loser.counters.connectionWaitMs, savedMs)
        ? sixConnectionsClause(loser.counters, causes)
        : causes.turnClause(loser.protocol);
    case 'loss': {
      const worst = worstHoldup(graph, traced(loser.protocol).trace);
      if (worst === null) return null;
      return worst.held.length > 0 && accountsFor(worst.longestMs, savedMs)
        ? holdupSentence(worst, loser.protocol, sentences)
        : causes.ownLossesClause(loser.protocol);
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
