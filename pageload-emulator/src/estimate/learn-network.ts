import type { MeasuredNetwork, Recording } from '@hopwise/contract';
import { estimateNetwork, type NetworkEstimate } from './estimate-network.ts';
import {
  BETWEEN_LOADS,
  HALF_LIFE_MS,
  isShownOpen,
  type Moments,
  type NetworkCluster,
} from './network-cluster.ts';
import { type NetworkPosterior, networkPosterior } from './network-posterior.ts';
import type { NetworkKnowledge } from './posterior-input.ts';

/** Figures that identify a network: round trips and losses also depend on the servers, and queues are hard to estimate. */
const RATES = ['downBps', 'upBps'] as const;
/** A load that differs by this many standard deviations is of another network. */
const OTHER_NETWORK = 3;

/** A recorded load's posterior after what earlier loads showed; null for nothing. */
type PosteriorAfter = (cluster: NetworkCluster | null) => NetworkPosterior;

/**
 * Updates a network's cluster with another recorded load. A load that cannot be of the same network begins a new cluster,
 * whose `loads` is 1.
 *
 * @param before the network's cluster; null for the first load
 * @param nowMs milliseconds since the epoch; by default when the recording began, else the present
 * @param measured figures that real transfers showed beside the load
 * @param estimate the recording's, if it was made before
 */
export function learnNetwork(
  before: NetworkCluster | null,
  recording: Recording,
  nowMs: number = timeOf(recording),
  measured?: MeasuredNetwork,
  estimate?: NetworkEstimate,
): NetworkCluster {
  return addLoad(before, posteriorsOf(recording, { measured }, estimate), nowMs);
}

/** Returns the posterior after each of several clusters, each computed once: it takes many emulations. */
export function posteriorsOf(
  recording: Recording,
  knowledge: Pick<NetworkKnowledge, 'measured' | 'onlyRates'>,
  estimate: NetworkEstimate = estimateNetwork(recording),
): PosteriorAfter {
  const known = new Map<NetworkCluster | null, NetworkPosterior>();
  return (cluster) => {
    const posterior = known.get(cluster) ?? networkPosterior(recording, { ...knowledge, cluster }, estimate);
    known.set(cluster, posterior);
    return posterior;
  };
}

/** Updates a network's cluster as `learnNetwork` does. */
export function addLoad(before: NetworkCluster | null, after: PosteriorAfter, nowMs: number): NetworkCluster {
  const posterior = after(before);
  return before === null || isSameNetwork(before, posterior)
    ? updateCluster(before, posterior, nowMs)
    : updateCluster(null, after(null), nowMs);
}

/** When a recording began, milliseconds since the epoch; the present where it does not say. */
export function timeOf({ recordedAt }: Recording): number {
  const ms = Date.parse(recordedAt);
  return Number.isNaN(ms) || ms < 0 ? Date.now() : ms;
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
  const { densities, udp, showsLink } = posterior;
  return {
    format: 'hopwise-network-cluster',
    version: 1,
    updatedAtMs: nowMs,
    loads: (before?.loads ?? 0) + 1,
    rttMs: rttOf(before, posterior, nowMs),
    downBps: mixed(densities.downBps.moments, densities.downBpsPoliced.moments, udp.policed),
    upBps: densities.upBps.moments,
    queueMs: densities.queueMs.moments,
    loss: (udp.policed > 0.5 ? densities.lossPoliced : densities.loss).moments,
    lossBurst: densities.lossBurst.moments,
    policedBps: densities.policedBps.moments,
    udp: { ...udp },
    // Where UDP is open, so do responses over HTTP/3.
    showsLink: showsLink || isShownOpen({ udp }),
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
function isSameNetwork(cluster: NetworkCluster, posterior: NetworkPosterior): boolean {
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
