import type { RecordingReplay, ReplayedTimes } from './replay.ts';

/**
 * Weight of the log-likelihood. Responses of one load share the link, its losses and the emulator's errors, so they are weaker
 * evidence than independent ones (a power posterior; Grünwald and van Ommen, "Inconsistency of Bayesian Inference for
 * Misspecified Linear Models", 2017).
 */
export const EVIDENCE_SHARE = 0.3;
/** Up to this many responses over QUIC count in full: few responses share little, and hardly anything else shows UDP's treatment. */
const WHOLE_QUIC_RESPONSES = 4;

/** Responses that end within this many round trips of each other are taken to have had the same cause. */
const TOGETHER_RTT = 1;

/** Responses of one transport in order of their ends. */
export interface EndedResponses {
  transport: 'tcp' | 'quic';
  /** Indices into `Replay.requests`, by recorded end. */
  recorded: readonly number[];
  /** Weight of each: 1, shared among those that ended together; 0 when the size is unknown. */
  weights: readonly number[];
  /** Share of each as evidence, beside its weight. */
  shares: readonly number[];
}

/**
 * Sorts responses over TCP and over QUIC by their ends. The first to end is compared with the first that ends in a replay, and
 * so on: which of several comes first depends on the server, how much has arrived by a time depends on the network.
 */
export function endedResponses(replay: RecordingReplay, rttMs: number): EndedResponses[] {
  const { requests } = replay;
  const byEnd = [...requests.keys()]
    .filter((index) => requests[index]!.isWhole)
    .sort((a, b) => requests[a]!.endMs - requests[b]!.endMs);
  const weights = new Float64Array(requests.length);
  const shares = new Float64Array(requests.length);
  // By what may be QUIC, so that replays under different assumptions weigh the same responses alike.
  for (const mayBeQuic of [false, true]) {
    const ended = byEnd.filter((index) => requests[index]!.mayBeQuic === mayBeQuic);
    const own = weightsOf(replay, ended, TOGETHER_RTT * rttMs);
    const share = mayBeQuic ? quicShare(own) : EVIDENCE_SHARE;
    for (const [at, index] of ended.entries()) {
      weights[index] = own[at]!;
      shares[index] = share;
    }
  }
  return (['tcp', 'quic'] as const).flatMap((transport) => {
    const recorded = byEnd.filter((index) => (requests[index]!.protocol === 'h3') === (transport === 'quic'));
    if (recorded.length === 0) return [];
    const at = (values: Float64Array) => recorded.map((index) => values[index]!);
    return [{ transport, recorded, weights: at(weights), shares: at(shares) }];
  });
}

function quicShare(weights: readonly number[]): number {
  const responses = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.min(1, Math.max(EVIDENCE_SHARE, WHOLE_QUIC_RESPONSES / responses));
}

/** Sorts the responses by their ends in a replay. */
export function replayedOrder({ recorded }: EndedResponses, { endMs }: ReplayedTimes): number[] {
  return [...recorded].sort((a, b) => endMs[a]! - endMs[b]!);
}

function weightsOf({ requests }: RecordingReplay, ended: readonly number[], togetherMs: number): number[] {
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
