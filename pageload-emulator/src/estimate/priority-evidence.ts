import type { RecordedRequest } from '@hopwise/contract';
import { priorityOf } from '../graph/priorities.ts';
import { responseBytesOf } from '../recording/sizes.ts';

/** Requests sent within this of each other are taken to compete at the server. */
const TOGETHER_MS = 30;
/** When a server ignores priorities, a response larger than another by this factor ends after it. */
const LARGER = 1.5;
/** Smaller responses fit into the first flight whatever the order. */
const MIN_BYTES = 4_000;
/** Ends closer together than this do not show the order of sending. */
const MIN_APART_MS = 3;
const MIN_VOTES = 3;
const MAJORITY = 2 / 3;
/** Limit of requests to compare. */
const MAX_REQUESTS = 400;

/** Numbers of response pairs that show a server honouring or ignoring priorities. */
interface PriorityVotes {
  honoured: number;
  ignored: number;
}

/**
 * Counts evidence for a server following the client's priorities (RFC 9218) in pairs of concurrent responses over HTTP/2 or
 * HTTP/3: if the more urgent one is the larger, it ends first when priorities are honoured, and last when responses take turns.
 *
 * @param requests of one origin
 */
export function priorityVotes(requests: readonly RecordedRequest[]): PriorityVotes {
  const transfers = requests.flatMap((request) => {
    const { requestStartMs, responseStartMs } = request.phases;
    if (request.protocol !== 'h2' && request.protocol !== 'h3') return [];
    if (request.fromCache || requestStartMs === null || responseStartMs === null) return [];
    const bytes = responseBytesOf(request);
    return [{ sentMs: requestStartMs, endMs: request.endMs, bytes, urgency: priorityOf(request).urgency }];
  });
  const looked = transfers.sort((a, b) => a.sentMs - b.sentMs).slice(0, MAX_REQUESTS);
  const votes = { honoured: 0, ignored: 0 };
  for (const [index, one] of looked.entries()) {
    for (let at = index + 1; at < looked.length; at++) {
      const other = looked[at]!;
      if (other.sentMs - one.sentMs > TOGETHER_MS) break;
      if (one.urgency === other.urgency) continue;
      const [urgent, lesser] = one.urgency < other.urgency ? [one, other] : [other, one];
      if (lesser.bytes < MIN_BYTES || urgent.bytes < LARGER * lesser.bytes) continue;
      const lateMs = lesser.endMs - urgent.endMs;
      if (lateMs >= MIN_APART_MS) votes.honoured++;
      else if (lateMs <= -MIN_APART_MS) votes.ignored++;
    }
  }
  return votes;
}

/** Decides by majority. @returns null with too few votes or without a clear majority */
export function honoursPriorities({ honoured, ignored }: PriorityVotes): boolean | null {
  if (honoured + ignored < MIN_VOTES) return null;
  const share = honoured / (honoured + ignored);
  return share >= MAJORITY ? true : share <= 1 - MAJORITY ? false : null;
}

/** Sums the votes of all servers of a page, which decide for servers without clear votes of their own. */
export function sumOfVotes(votes: readonly PriorityVotes[]): PriorityVotes {
  return {
    honoured: votes.reduce((sum, { honoured }) => sum + honoured, 0),
    ignored: votes.reduce((sum, { ignored }) => sum + ignored, 0),
  };
}
