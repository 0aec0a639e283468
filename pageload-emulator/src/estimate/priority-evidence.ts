import type { RecordedRequest } from '@hopwise/contract';
import { priorityOf } from '../graph/priorities.ts';
import { responseBytesOf } from '../recording/sizes.ts';

/** Responses asked for within this of each other were there to choose from at one moment. */
const TOGETHER_MS = 30;
/** Where turns are taken, a response this much larger than another ends after it. */
const LARGER = 1.5;
/** Smaller responses leave whole in the first flight, whatever the order. */
const MIN_BYTES = 4_000;
/** Ends closer than this say nothing about the order of sending. */
const MIN_APART_MS = 3;
const MIN_VOTES = 3;
const MAJORITY = 2 / 3;
/** Requests looked at: each is compared with those of its moment. */
const MAX_REQUESTS = 400;

/** Pairs of responses that tell in which order a server sends. */
export interface PriorityVotes {
  honoured: number;
  ignored: number;
}

/**
 * Whether a server sends by the client's priorities (RFC 9218), told by pairs of responses that were under way together on
 * HTTP/2 or HTTP/3: an urgent one that is the larger of the two ends first where priorities are honoured, and last
 * where all take turns.
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

/** @returns null when too few pairs tell, or they do not agree */
export function honoursPriorities({ honoured, ignored }: PriorityVotes): boolean | null {
  if (honoured + ignored < MIN_VOTES) return null;
  const share = honoured / (honoured + ignored);
  return share >= MAJORITY ? true : share <= 1 - MAJORITY ? false : null;
}

/** What the servers of a page do together: one that shows nothing itself is taken to be like the others. */
export function sumOfVotes(votes: readonly PriorityVotes[]): PriorityVotes {
  return {
    honoured: votes.reduce((sum, { honoured }) => sum + honoured, 0),
    ignored: votes.reduce((sum, { ignored }) => sum + ignored, 0),
  };
}
