import { SEGMENT_BYTES } from '@hopwise/pageload-emulator';
import type { FlowConditions, SlowStartFrom } from '@hopwise/pageload-emulator/econ';
import { FlowLatency } from './flow-latency.ts';

/** One quality of a video's next segment. */
export interface Representation {
  name: string;
  /** Size of the video's segment on the wire. */
  bytes: number;
}

/** What a quality's segment would take. */
export interface TimedRepresentation extends Representation {
  latencyMs: number;
}

/** The choice, and all that it was made of. */
interface VideoChoice {
  /** Null where none arrives in time. */
  best: TimedRepresentation | null;
  /** Largest first. */
  representations: TimedRepresentation[];
}

/**
 * ECON's second use: the highest bitrate whose next segment is expected to arrive in time. The paper holds B times the
 * playing time against the segment's size; here it is the latency of that finite flow.
 *
 * @param deadlineMs how long the buffer lasts: the playing time of a segment in the paper
 * @param from the connection's window; in congestion avoidance where ssthresh is no higher
 */
export function highestBitrate(
  representations: readonly Representation[],
  deadlineMs: number,
  conditions: FlowConditions,
  from: SlowStartFrom,
): VideoChoice {
  const latency = new FlowLatency(conditions);
  const timed = representations
    .map((representation) => ({
      ...representation,
      latencyMs: latency.latencyMs(Math.max(1, Math.ceil(representation.bytes / SEGMENT_BYTES)), from),
    }))
    .sort((a, b) => b.bytes - a.bytes);
  return { best: timed.find(({ latencyMs }) => latencyMs <= deadlineMs) ?? null, representations: timed };
}
