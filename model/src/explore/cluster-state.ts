import * as z from 'zod/mini';

/** How many of the last loads show how load times scatter and whether they have changed. */
export const MAX_SURPRISES = 40;
/** The most recent loads of an arm are kept; older ones would weigh next to nothing. */
export const MAX_LOADS_OF_ARM = 40;

const loadSchema = z.object({
  /** Load time over the page's scale, so that pages of one cluster can be compared. */
  relative: z.number().check(z.positive()),
  /** Number of the cluster's load, from 0. */
  at: z.int().check(z.nonnegative()),
});

/** What was measured in one cluster: a network and an origin, or wider. A plain value, to be stored as JSON. */
export const clusterStateSchema = z.object({
  /** Loads so far. */
  loads: z.int().check(z.nonnegative()),
  /** Loads by arm, oldest first. */
  arms: z.record(z.string(), z.array(loadSchema).check(z.maxLength(MAX_LOADS_OF_ARM))),
  /** Logarithms of the last loads' times over what was usual for their arms, oldest first. */
  surprises: z.array(z.number()).check(z.maxLength(MAX_SURPRISES)),
  /** Whether loads showed that the predictions do not hold here. */
  refuted: z.boolean(),
  /** Loads that are left of the trial after a change. */
  trials: z.int().check(z.nonnegative()),
  /** Time of all loads, and what exploring cost of it, milliseconds; halved together from time to time, so that old spending is forgotten. */
  totalMs: z.number().check(z.nonnegative()),
  spentMs: z.number().check(z.nonnegative()),
});

export type ClusterState = z.infer<typeof clusterStateSchema>;

export function emptyCluster(): ClusterState {
  return { loads: 0, arms: {}, surprises: [], refuted: false, trials: 0, totalMs: 0, spentMs: 0 };
}

/** Reads a stored cluster; what cannot be read begins anew. */
export function readCluster(stored: unknown): ClusterState {
  const parsed = clusterStateSchema.safeParse(stored);
  return parsed.success ? parsed.data : emptyCluster();
}
