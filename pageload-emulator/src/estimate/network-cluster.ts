import * as z from 'zod/mini';
import { type LogDensity, logNormal } from '../network/log-density.ts';
import type { NetworkPosterior } from './network-posterior.ts';

/** A log-normal figure: mean and standard deviation of its natural logarithm. */
const momentsSchema = z.object({
  mean: z.number().check(z.gte(-50), z.lte(50)),
  spread: z.number().check(z.gt(0), z.lte(50)),
});
type Moments = z.infer<typeof momentsSchema>;

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
  /** Absent in clusters that were stored before it was learnt. */
  lossBurst: z.optional(momentsSchema),
  policedBps: momentsSchema,
  udp: z.object({ open: share, policed: share, blocked: share }),
});

/**
 * What earlier loads showed of one network. What counts as one network (a Wi-Fi name, a provider) is the caller's decision.
 * Plain data to be stored as JSON and read back by `parseCluster`.
 *
 * Figures are log-normal: `rttMs` in milliseconds, rates in bits per second, `loss` in loss events per packet, `lossBurst` in
 * packets lost in one event, `queueMs` the time in which the bottleneck's full queue drains, `policedBps` the rate to which UDP is limited if it is policed.
 * `updatedAtMs` is milliseconds since the epoch.
 */
export type NetworkCluster = z.infer<typeof clusterSchema>;

/** Fields of a cluster that are distributions. */
export type ClusterFigure = 'rttMs' | 'downBps' | 'upBps' | 'queueMs' | 'loss' | 'lossBurst' | 'policedBps';

/** The weight of a cluster halves in this time, as links and their users change within days; assumed. */
const HALF_LIFE_MS = 24 * 3_600_000;
/** Weight of a fresh cluster against the general prior. */
const MAX_WEIGHT = 0.9;
/** Upper bound of a probability taken from a cluster: what was certain may have changed since. */
const MAX_PROBABILITY = 0.95;
/**
 * Variation of a figure between loads on one network (standard deviation of the logarithm): the nearest origin depends on the
 * page, wireless links fluctuate. Assumed.
 */
const BETWEEN_LOADS: Record<ClusterFigure, number> = {
  rttMs: 0.5,
  downBps: 0.25,
  upBps: 0.25,
  queueMs: 0.3,
  loss: 0.7,
  lossBurst: 0.3,
  policedBps: 0.15,
};

/** Figures that identify a network: round trips and losses also depend on the servers, and queues are hard to estimate. */
const RATES = ['downBps', 'upBps'] as const;
/** A load that differs by this many standard deviations is of another network. */
const OTHER_NETWORK = 3;

/**
 * Validates a stored cluster.
 *
 * @returns null for anything that is not a cluster
 */
export function parseCluster(value: unknown): NetworkCluster | null {
  const parsed = clusterSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/**
 * Updates a network's cluster with the posterior of another load.
 *
 * @param before the cluster that `posterior` was computed with; null for the first load
 * @param posterior of the load to add
 * @param nowMs milliseconds since the epoch
 */
export function updateCluster(
  before: NetworkCluster | null,
  posterior: NetworkPosterior,
  nowMs: number,
): NetworkCluster {
  const { densities, udp } = posterior;
  return {
    format: 'hopwise-network-cluster',
    version: 1,
    updatedAtMs: nowMs,
    loads: (before?.loads ?? 0) + 1,
    rttMs: rttOf(before, posterior, nowMs),
    downBps: mixed(densities.downBps.moments, densities.downBpsPoliced.moments, udp.policed),
    upBps: densities.upBps.moments,
    queueMs: densities.queueMs.moments,
    loss: densities.loss.moments,
    lossBurst: densities.lossBurst.moments,
    policedBps: densities.policedBps.moments,
    udp: { ...udp },
  };
}

/** The shortest round trip of the last day, as everything but the network only lengthens it. */
function rttOf(
  before: NetworkCluster | null,
  { densities, sources }: NetworkPosterior,
  nowMs: number,
): Moments {
  const seen = densities.rttMs.moments;
  if (before === null) return seen;
  if (sources.rttMs === 'assumed') return before.rttMs;
  return nowMs - before.updatedAtMs < HALF_LIFE_MS && before.rttMs.mean < seen.mean ? before.rttMs : seen;
}

/**
 * Whether a load can be of a cluster's network: its rates differ from the cluster's by less than `OTHER_NETWORK` standard
 * deviations.
 *
 * @param posterior of the load, computed with the cluster
 */
export function isSameNetwork(cluster: NetworkCluster, posterior: NetworkPosterior): boolean {
  const after = updateCluster(cluster, posterior, cluster.updatedAtMs);
  return RATES.every((rate) => {
    const { mean, spread } = cluster[rate];
    return Math.abs(after[rate].mean - mean) < OTHER_NETWORK * Math.hypot(spread, BETWEEN_LOADS[rate]);
  });
}

/** Moments of a mixture of two densities. @param share weight of the second */
function mixed(a: Moments, b: Moments, share: number): Moments {
  const mean = (1 - share) * a.mean + share * b.mean;
  const square = (1 - share) * a.spread ** 2 + share * b.spread ** 2;
  return { mean, spread: Math.sqrt(square + share * (1 - share) * (a.mean - b.mean) ** 2) };
}

/** Combines the general prior with what earlier loads showed of the network. */
export class ClusterPrior {
  readonly #cluster: NetworkCluster | null;
  /** Weight by age, 0 to 1. */
  readonly #freshness: number;

  /** @param nowMs time of the load to predict, milliseconds since the epoch */
  constructor(cluster: NetworkCluster | null, nowMs: number) {
    this.#cluster = cluster;
    const ageMs = cluster === null ? 0 : Math.max(0, nowMs - cluster.updatedAtMs);
    this.#freshness = 0.5 ** (ageMs / HALF_LIFE_MS);
  }

  /** Geometric pool of the general prior and the cluster's density, weighted by the cluster's age. */
  density(figure: ClusterFigure, general: LogDensity): LogDensity {
    const moments = this.#cluster?.[figure];
    if (moments === undefined) return general;
    const { mean, spread } = moments;
    const widened = Math.hypot(spread, BETWEEN_LOADS[figure]);
    const weight = MAX_WEIGHT * this.#freshness;
    return general.pooledWith((value) => logNormal(value, Math.exp(mean), widened), weight);
  }

  /** Probability that UDP is blocked. */
  blocked(general: number): number {
    return this.#share(this.#cluster?.udp.blocked, general);
  }

  /** Probability that UDP is policed, given that it is not blocked. */
  policed(general: number): number {
    const { open, policed } = this.#cluster?.udp ?? { open: 0, policed: 0 };
    return this.#share(open + policed > 0 ? policed / (open + policed) : undefined, general);
  }

  /**
   * Most loads show nothing about UDP, so only age reduces the weight of what an earlier load showed. The result is never
   * certain, as the path may have changed since.
   */
  #share(known: number | undefined, general: number): number {
    if (known === undefined) return general;
    const share = this.#freshness * known + (1 - this.#freshness) * general;
    return Math.min(MAX_PROBABILITY, Math.max((1 - MAX_WEIGHT) * general, share));
  }
}
