import type { Replay, ReplayedTimes } from './replay.ts';

/** Responses that end together, within this share of a round trip, waited for the same thing. */
const TOGETHER_RTT = 1;

/** Responses of one transport in the order in which they ended. */
export interface EndedResponses {
  transport: 'tcp' | 'quic';
  /** Indices into `Replay.requests`, by recorded end. */
  recorded: readonly number[];
  /** Of each: 1, shared by those that ended together; 0 where the size is not known. */
  weights: readonly number[];
}

/**
 * Responses over TCP and over QUIC in order of their ends. The first to end is held against the first that ends in a
 * replay, and so on: which of several comes first is the servers' choice, how much has come by a time is the network's.
 */
export function endedResponses(replay: Replay, rttMs: number): EndedResponses[] {
  const { requests } = replay;
  const indices = requests.map((_, index) => index);
  return (['tcp', 'quic'] as const).flatMap((transport) => {
    const recorded = indices
      .filter((index) => (requests[index]!.protocol === 'h3') === (transport === 'quic'))
      .sort((a, b) => requests[a]!.endMs - requests[b]!.endMs);
    if (recorded.length === 0) return [];
    return [{ transport, recorded, weights: weightsOf(replay, recorded, TOGETHER_RTT * rttMs) }];
  });
}

/** The same responses by the ends that a replay gave them. */
export function replayedOrder({ recorded }: EndedResponses, { endMs }: ReplayedTimes): number[] {
  return [...recorded].sort((a, b) => endMs[a]! - endMs[b]!);
}

function weightsOf({ requests }: Replay, ended: readonly number[], togetherMs: number): number[] {
  const weights: number[] = [];
  let from = 0;
  while (from < ended.length) {
    let to = from + 1;
    const firstMs = requests[ended[from]!]!.endMs;
    while (to < ended.length && requests[ended[to]!]!.endMs - firstMs < togetherMs) to++;
    for (const index of ended.slice(from, to)) weights.push(requests[index]!.sized ? 1 / (to - from) : 0);
    from = to;
  }
  return weights;
}
