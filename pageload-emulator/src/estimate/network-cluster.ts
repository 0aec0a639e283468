import { DAY_MS } from '@hopwise/contract';
import * as z from 'zod/mini';

/** A log-normal figure: mean and standard deviation of its natural logarithm. */
const momentsSchema = z.object({
  mean: z.number().check(z.gte(-50), z.lte(50)),
  spread: z.number().check(z.gt(0), z.lte(50)),
});
export type Moments = z.infer<typeof momentsSchema>;

const share = z.number().check(z.gte(0), z.lte(1));

const clusterSchema = z.object({
  format: z.literal('hopwise-network-cluster'),
  version: z.literal(1),
  updatedAtMs: z.number().check(z.gte(0)),
  loads: z.number().check(z.gte(1)),
  rttMs: momentsSchema,
  downBps: momentsSchema,
  upBps: momentsSchema,
  queueMs: momentsSchema,
  loss: momentsSchema,
  /** Absent in clusters that were stored before it was learned. */
  lossBurst: z.optional(momentsSchema),
  policedBps: momentsSchema,
  udp: z.object({ open: share, policed: share, blocked: share }),
  /** Absent in clusters that were stored before it was learned. */
  showsLink: z.optional(z.boolean()),
});

/**
 * What earlier loads showed of one network. What counts as one network (a Wi-Fi name, a provider) is the caller's decision.
 * Plain data to be stored as JSON and read back by `parseCluster`.
 *
 * Figures are log-normal: `rttMs` in milliseconds, rates in bits per second, `loss` in loss events per packet, `lossBurst` in
 * packets lost in one event, `queueMs` the time in which the bottleneck's full queue drains, `policedBps` the rate to which UDP is limited if it is policed.
 * `updatedAtMs` is milliseconds since the epoch. `showsLink`: whether the rates are the link's; where all responses came over HTTP/3, a policer may
 * have held them back.
 */
export type NetworkCluster = z.infer<typeof clusterSchema>;

/** Fields of a cluster that are distributions. */
export type ClusterFigure = 'rttMs' | 'downBps' | 'upBps' | 'queueMs' | 'loss' | 'lossBurst' | 'policedBps';

/** The weight of a cluster halves in this time, as links and their users change within days; assumed. */
export const HALF_LIFE_MS = DAY_MS;
/**
 * Variation of a figure between loads on one network (standard deviation of the logarithm): the nearest origin depends on the
 * page, wireless links fluctuate. Assumed.
 */
export const BETWEEN_LOADS: Record<ClusterFigure, number> = {
  rttMs: 0.5,
  downBps: 0.25,
  upBps: 0.25,
  queueMs: 0.3,
  loss: 0.7,
  lossBurst: 0.3,
  policedBps: 0.15,
};

/** Where UDP is open more surely than this, a load has shown it: less is assumed where none has. */
export const SHOWN_OPEN = 0.99;

/** Whether loads showed that UDP is open. */
export const isShownOpen = ({ udp }: Pick<NetworkCluster, 'udp'>): boolean => udp.open >= SHOWN_OPEN;

/** Whether loads showed how fast the link is. */
export const isLinkShown = ({ showsLink = true }: NetworkCluster): boolean => showsLink;

/**
 * Validates a stored cluster.
 *
 * @returns null for anything that is not a cluster
 */
export function parseCluster(value: unknown): NetworkCluster | null {
  const parsed = clusterSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}
