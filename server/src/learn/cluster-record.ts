/** What the agent keeps of a cluster besides the explorer's state. A plain value, to be stored as JSON. */
import * as z from 'zod/mini';

const nonnegative = z.number().check(z.nonnegative());

/** Connections under one initial window: an older one counts less. */
const tallySchema = z.object({
  connections: nonnegative,
  /** Sums of the connections' shares of segments that were sent again, and of these shares' squares. */
  retransmitted: nonnegative,
  squares: nonnegative,
  /** Connections with a timeout. */
  timedOut: nonnegative,
});
export type Tally = z.infer<typeof tallySchema>;

export const clusterRecordSchema = z.object({
  /** Connections, of which half are forgotten each day, and when the last one was, Unix milliseconds. */
  connections: nonnegative,
  lastMs: nonnegative,
  /** Transfer time that connections of a size are compared by, milliseconds: that of the first one. */
  scales: z.record(z.string(), z.number().check(z.positive())),
  tallies: z.record(z.string(), tallySchema),
  /** Windows from this one on are not used for so many further connections; null where none is barred. */
  barred: z.nullable(z.object({ from: nonnegative, connections: nonnegative })),
});
export type ClusterRecord = z.infer<typeof clusterRecordSchema>;

export function emptyRecord(): ClusterRecord {
  return { connections: 0, lastMs: 0, scales: {}, tallies: {}, barred: null };
}

/** A connection that shows what its initial window did. */
export interface Sample {
  window: number;
  transferMs: number;
  bytes: number;
  segments: number;
  retransmitted: number;
  timedOut: boolean;
}

/** Every newer connection makes an older one count this much less. */
const FORGETTING = 0.98;

export function addToTally(
  record: ClusterRecord,
  { window, segments, retransmitted, timedOut }: Sample,
): void {
  const before = record.tallies[window] ?? { connections: 0, retransmitted: 0, squares: 0, timedOut: 0 };
  const share = Math.min(1, retransmitted / segments);
  record.tallies[window] = {
    connections: FORGETTING * before.connections + 1,
    retransmitted: FORGETTING * before.retransmitted + share,
    squares: FORGETTING * before.squares + share ** 2,
    timedOut: FORGETTING * before.timedOut + Number(timedOut),
  };
}

/** Upper ends of the sizes, bytes, that connections are compared within. */
const SIZES = [50_000, 150_000, 500_000, 2_000_000, Number.POSITIVE_INFINITY] as const;

/** The transfer time that a connection is compared by: always the same for its size. */
export function scaleOf({ scales }: ClusterRecord, { bytes, transferMs }: Sample): number {
  const size = String(SIZES.findIndex((end) => bytes <= end));
  scales[size] ??= transferMs;
  return scales[size];
}
