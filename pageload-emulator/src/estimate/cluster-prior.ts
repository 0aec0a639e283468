import { LogDensity, logNormal } from '../network/log-density.ts';
import {
  BETWEEN_LOADS,
  type ClusterFigure,
  HALF_LIFE_MS,
  isLinkShown,
  type NetworkCluster,
} from './network-cluster.ts';

/** Weight of a fresh cluster against the general prior. */
const MAX_WEIGHT = 0.9;
/** Upper bound of a probability taken from a cluster: what was certain may have changed since. */
const MAX_PROBABILITY = 0.95;

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

  /** Whether earlier loads showed how fast the link is. */
  get showsLink(): boolean {
    return this.#cluster !== null && isLinkShown(this.#cluster);
  }

  /**
   * Geometric pool of the general prior and the cluster's density, weighted by the cluster's age; of a policer's rate their mixture, which yields to
   * a load that shows another one.
   */
  density(figure: ClusterFigure, general: LogDensity): LogDensity {
    const moments = this.#cluster?.[figure];
    if (moments === undefined) return general;
    const { mean, spread } = moments;
    const widened = Math.hypot(spread, BETWEEN_LOADS[figure]);
    const weight = MAX_WEIGHT * this.#freshness;
    if (figure !== 'policedBps')
      return general.pooledWith((value) => logNormal(value, Math.exp(mean), widened), weight);
    // A page gets what other UDP leaves of a policer's rate. What loads showed of a policer that is hardly there says nothing of one that may come.
    const share = weight * this.#cluster!.udp.policed;
    const known = LogDensity.logNormal(general.values, Math.exp(mean), widened);
    return LogDensity.mixture([general, known], [1 - share, share]);
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
