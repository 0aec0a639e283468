import * as z from 'zod/mini';
import { type LogDensity, logNormal } from '../network/log-density.ts';
import type { NetworkPosterior } from './network-posterior.ts';

/** A figure known to a factor: mean and standard deviation of its natural logarithm. */
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
  policedBps: momentsSchema,
  udp: z.object({ open: share, policed: share, blocked: share }),
});

/**
 * What the loads of one network told of it so far: a network of a Wi-Fi name, a provider, whatever the caller takes
 * for one. Plain data, to be stored as JSON; what comes from a store is read by `parseCluster`.
 *
 * Figures are log-normal. `loss` is events of loss per packet, `queueMs` the time in which the bottleneck's queue drains,
 * `policedBps` the rate that UDP is held to if it is held to one; `updatedAtMs` is in milliseconds since the epoch.
 */
export type NetworkCluster = z.infer<typeof clusterSchema>;

/** What of a cluster is a distribution. */
export type ClusterFigure = 'rttMs' | 'downBps' | 'upBps' | 'queueMs' | 'loss' | 'policedBps';

/** After so long half of what was known counts: assumed, links and who shares them change within days. */
const HALF_LIFE_MS = 24 * 3_600_000;
/** However fresh, what was known leaves the rest to what is believed of networks in general. */
const MAX_WEIGHT = 0.9;
/** What earlier loads made certain may have changed since. */
const MAX_PROBABILITY = 0.95;
/**
 * How much a figure differs from one load to the next on one network (standard deviation of the logarithm): the nearest
 * origin is another page's, wireless links come and go. Assumed.
 */
const BETWEEN_LOADS: Record<ClusterFigure, number> = {
  rttMs: 0.5,
  downBps: 0.25,
  upBps: 0.25,
  queueMs: 0.3,
  loss: 0.7,
  policedBps: 0.15,
};

/** Round trips and losses are the servers' too, and queues are hard to see. */
const RATES = ['downBps', 'upBps'] as const;
/** Standard deviations by which a load on the same network hardly ever differs. */
const OTHER_NETWORK = 3;

/**
 * Reads what a store returned.
 *
 * @returns null for anything that is not a cluster
 */
export function parseCluster(value: unknown): NetworkCluster | null {
  const parsed = clusterSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/**
 * A network's cluster after another load of it.
 *
 * @param before its cluster, which must have been among what `posterior` was made from; null for the first load
 * @param posterior of the load that was added
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
    rttMs: densities.rttMs.moments,
    downBps: mixed(densities.downBps.moments, densities.downBpsPoliced.moments, udp.policed),
    upBps: densities.upBps.moments,
    queueMs: densities.queueMs.moments,
    loss: densities.loss.moments,
    policedBps: densities.policedBps.moments,
    udp: { ...udp },
  };
}

/**
 * Whether a load can be of a cluster's network: its rates are where the cluster has them, to `OTHER_NETWORK` standard deviations.
 *
 * @param posterior of the load, made with the cluster
 */
export function isSameNetwork(cluster: NetworkCluster, posterior: NetworkPosterior): boolean {
  const after = updateCluster(cluster, posterior, cluster.updatedAtMs);
  return RATES.every((rate) => {
    const { mean, spread } = cluster[rate];
    return Math.abs(after[rate].mean - mean) < OTHER_NETWORK * Math.hypot(spread, BETWEEN_LOADS[rate]);
  });
}

/** Moments of a mixture of two densities. @param share of the second */
function mixed(a: Moments, b: Moments, share: number): Moments {
  const mean = (1 - share) * a.mean + share * b.mean;
  const square = (1 - share) * a.spread ** 2 + share * b.spread ** 2;
  return { mean, spread: Math.sqrt(square + share * (1 - share) * (a.mean - b.mean) ** 2) };
}

/** What a network's earlier loads make of what is believed of networks in general. */
export class ClusterPrior {
  readonly #cluster: NetworkCluster | null;
  /** By age, 0 to 1. */
  readonly #freshness: number;

  /** @param nowMs when the load to be judged was, milliseconds since the epoch */
  constructor(cluster: NetworkCluster | null, nowMs: number) {
    this.#cluster = cluster;
    const ageMs = cluster === null ? 0 : Math.max(0, nowMs - cluster.updatedAtMs);
    this.#freshness = 0.5 ** (ageMs / HALF_LIFE_MS);
  }

  /** The geometric pool of the general belief and the cluster's, weighted by the cluster's age. */
  density(figure: ClusterFigure, general: LogDensity): LogDensity {
    if (this.#cluster === null) return general;
    const { mean, spread } = this.#cluster[figure];
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
   * Most loads say nothing of UDP, and what one said must outlast them: only age takes from it. It makes nothing
   * certain, as the path may have changed since.
   */
  #share(known: number | undefined, general: number): number {
    if (known === undefined) return general;
    const share = this.#freshness * known + (1 - this.#freshness) * general;
    return Math.min(MAX_PROBABILITY, Math.max((1 - MAX_WEIGHT) * general, share));
  }
}
