import { type NetworkPath, PROTOCOL_NAME, type Protocol } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { OriginChoice } from '../choose/origin-choice.ts';
import { worstHoldup } from '../trace/worst-holdup.ts';
import {
  connectClause,
  lostPackets,
  oneOfManyClause,
  policedSentence,
  type Side,
  sixConnectionsClause,
  timeoutsClause,
} from './cause-sentences.ts';
import { holdupSentence } from './holdup-sentence.ts';
import type { ReasonContext } from './page-reasons.ts';
import { count, ms, percent } from './words.ts';

/** Differences below this, milliseconds a request, explain nothing that the user would see. */
const MIN_DIFFERENCE_MS = 3;
/** What a loss that only a timer notices is taken to cost, milliseconds. */
const TIMEOUT_MS = 200;

/** Explains one origin's protocol in one sentence. */
export function originReason(
  origin: OriginChoice,
  { graph, path }: ReasonContext,
  { uniform, traced }: Pick<Choice, 'uniform' | 'traced'>,
): string {
  const { protocol, rival, gainMs, pageMs } = origin;
  if (origin.isOnlyOffer) return `It offers ${PROTOCOL_NAME[protocol]} only.`;
  if (origin.isUntried) return 'Nothing else was tried for it: other origins move more bytes.';
  const requests = count(origin.requests, 'request');
  if (rival === null) return 'Not on the critical path.';
  if (!origin.decided) {
    const apartMs = Math.abs(gainMs);
    if (apartMs < pageMs / 100) return `The choice for its ${requests} moves the page by less than 1%.`;
    const [ahead, behind] = gainMs < 0 ? [rival, protocol] : [protocol, rival];
    return `${PROTOCOL_NAME[ahead]} for its ${requests} gains ${ms(apartMs)} (${percent(apartMs / pageMs)}) over ${PROTOCOL_NAME[behind]}, too little to be sure.`;
  }
  const lead = `${PROTOCOL_NAME[protocol]} for its ${requests} loads the page ${ms(gainMs)} sooner than ${PROTOCOL_NAME[rival]}`;
  const sideOf = (of: Protocol): Side | undefined => {
    const counters = uniform.find((run) => run.protocol === of)?.origins.get(origin.origin);
    return counters && { protocol: of, counters };
  };
  const winner = sideOf(protocol);
  const loser = sideOf(rival);
  if (winner === undefined || loser === undefined) return `${lead}.`;
  const why = largestDifference(winner, loser, path, () => {
    const worst = worstHoldup(graph, traced(rival).trace, origin.origin);
    return worst && worst.held.length > 0 ? holdupSentence(worst, rival) : null;
  });
  return why === null ? `${lead}.` : `${lead}: ${why}`;
}

/** The largest of the loser's costs that the winner was spared; null when all are small. */
function largestDifference(
  winner: Side,
  loser: Side,
  path: NetworkPath,
  holdup: () => string | null,
): string | null {
  const own = winner.counters;
  const other = loser.counters;
  const found: { weight: number; clause: () => string }[] = [];
  const add = (weight: number, clause: () => string) => {
    if (weight >= MIN_DIFFERENCE_MS) found.push({ weight, clause });
  };
  const requests = Math.max(1, other.requests);
  if (other.policed >= 1) add(Number.POSITIVE_INFINITY, () => inLowerCase(policedSentence(other)));
  add((other.connectionWaitMs - own.connectionWaitMs) / requests, () => sixConnectionsClause(other));
  add((other.handshakeMs - own.handshakeMs) / requests, () => connectClause(winner, loser, path));
  add(
    (other.blockedMs - own.blockedMs) / requests,
    () =>
      holdup() ??
      `${count(other.blockedStreams, 'response')} on ${PROTOCOL_NAME[loser.protocol]} waited behind another response's lost packet, ${ms(other.blockedMs / Math.max(1, other.blockedStreams))} each.`,
  );
  if (winner.protocol === 'h1' && lostPackets(loser) >= 1) {
    add(MIN_DIFFERENCE_MS, () => oneOfManyClause(winner, loser));
  }
  add(((other.timeouts - own.timeouts) * TIMEOUT_MS) / requests, () => timeoutsClause(winner, loser));
  found.sort((a, b) => b.weight - a.weight);
  return found[0]?.clause() ?? null;
}

const inLowerCase = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);
