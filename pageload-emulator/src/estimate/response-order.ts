import type { Replay, ReplayedTimes } from './replay.ts';

/** Responses that end within this many round trips of each other are taken to have had the same cause. */
const TOGETHER_RTT = 1;

/** Responses of one transport in order of their ends. */
export interface EndedResponses {
  transport: 'tcp' | 'quic';
  /** Indices into `Replay.requests`, by recorded end. */
  recorded: readonly number[];
  /** Weight of each: 1, shared among those that ended together; 0 when the size is unknown. */
  weights: readonly number[];
}

/**
 * Sorts responses over TCP and over QUIC by their ends. The first to end is compared with the first that ends in a replay, and
 * so on: which of several comes first depends on the server, how much has arrived by a time depends on the network.
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

/** The same responses sorted by their ends in a replay. */
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
