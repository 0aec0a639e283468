import type { NetworkPath, Protocol } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import { isLargeGain } from '../choose/confidence.ts';
import type { OriginChoice } from '../choose/origin-choice.ts';
import { worstHoldup } from '../trace/worst-holdup.ts';
import {
  accountsFor,
  connectClause,
  holdupSentence,
  lostPackets,
  oneOfManyClause,
  type Side,
  sixConnectionsClause,
  timersClause,
} from './cause-sentences.ts';
import type { ReasonContext } from './page-reasons.ts';
import type { Sentences } from './sentences/english.ts';

/** Differences below this, milliseconds a request, explain nothing that the user would see. */
const MIN_DIFFERENCE_MS = 3;
/** What a loss that only a timer notices is taken to cost, milliseconds. */
const TIMEOUT_MS = 200;

/** Explains one origin's protocol in one sentence. */
export function originReason(
  origin: OriginChoice,
  { graph, path }: ReasonContext,
  { uniform, traced }: Pick<Choice, 'uniform' | 'traced'>,
  sentences: Sentences,
): string {
  const { protocol, rival, gainMs, pageMs, requests } = origin;
  const { origin: words } = sentences;
  if (origin.isOnlyOffer) return words.onlyOffer(protocol);
  if (origin.isUntried) return words.untried();
  if (rival === null) return words.notCritical();
  if (!origin.decided) {
    const apartMs = Math.abs(gainMs);
    if (apartMs < pageMs / 100) return words.indifferent(requests);
    const [ahead, behind] = gainMs < 0 ? [rival, protocol] : [protocol, rival];
    const [aheadMs, behindMs] = [pageMs, pageMs + gainMs].sort((a, b) => a - b);
    const say = isLargeGain(aheadMs!, behindMs!) ? words.unsure : words.tooLittle;
    return say(ahead, requests, apartMs, apartMs / behindMs!, behind);
  }
  const sideOf = (of: Protocol): Side | undefined => {
    const counters = uniform.find((run) => run.protocol === of)?.origins.get(origin.origin);
    return counters && { protocol: of, counters };
  };
  const winner = sideOf(protocol);
  const loser = sideOf(rival);
  if (winner === undefined || loser === undefined)
    return words.faster(protocol, requests, gainMs, rival, null);
  const why = largestDifference(winner, loser, gainMs, path, sentences.causes, () => {
    const worst = worstHoldup(graph, traced(rival).trace, origin.origin);
    const isEnough = worst !== null && worst.held.length > 0 && accountsFor(worst.longestMs, gainMs);
    return isEnough ? holdupSentence(worst, rival, sentences) : null;
  });
  return words.faster(protocol, requests, gainMs, rival, why);
}

/** The largest of the loser's costs that the winner was spared and that accounts for the gain; null when there is none. */
function largestDifference(
  winner: Side,
  loser: Side,
  gainMs: number,
  path: NetworkPath,
  causes: Sentences['causes'],
  holdup: () => string | null,
): string | null {
  const own = winner.counters;
  const other = loser.counters;
  const found: { weight: number; clause: () => string | null }[] = [];
  const add = (weight: number, clause: () => string | null) => {
    if (weight >= MIN_DIFFERENCE_MS) found.push({ weight, clause });
  };
  const requests = Math.max(1, other.requests);
  if (other.policed >= 1) add(Number.POSITIVE_INFINITY, () => causes.policedClause(other.policed));
  const ifEnough = (statedMs: number, clause: () => string) => () =>
    accountsFor(statedMs, gainMs) ? clause() : null;
  add(
    (other.connectionWaitMs - own.connectionWaitMs) / requests,
    ifEnough(other.connectionWaitMs, () => sixConnectionsClause(other, causes)),
  );
  add((other.handshakeMs - own.handshakeMs) / requests, () =>
    connectClause(winner, loser, { ms: gainMs, trips: 1 }, path, causes),
  );
  add(
    (other.blockedMs - own.blockedMs) / requests,
    () =>
      holdup() ??
      ifEnough(other.blockedMs, () =>
        causes.heldBehindClause(
          other.blockedStreams,
          loser.protocol,
          other.blockedMs / Math.max(1, other.blockedStreams),
        ),
      )(),
  );
  if (winner.protocol === 'h1' && lostPackets(loser) >= 1) {
    add(MIN_DIFFERENCE_MS, () => oneOfManyClause(winner, loser, causes));
  }
  add(((other.timeouts - own.timeouts) * TIMEOUT_MS) / requests, () => timersClause(winner, loser, causes));
  found.sort((a, b) => b.weight - a.weight);
  for (const { clause } of found) {
    const text = clause();
    if (text !== null) return text;
  }
  return null;
}
