import type { MeasuredNetwork, Recording } from '@hopwise/contract';
import { buildGraph } from '../graph/build-graph.ts';
import { networkPosterior } from './build-posterior.ts';
import { isSameNetwork, type NetworkCluster, updateCluster } from './network-cluster.ts';

/**
 * Updates a network's cluster with another recorded load. A load that cannot be of the same network begins a new cluster,
 * whose `loads` is 1.
 *
 * @param before the network's cluster; null for the first load
 * @param nowMs milliseconds since the epoch; by default when the recording began, else the present
 * @param measured figures that real transfers showed beside the load
 */
export function learnNetwork(
  before: NetworkCluster | null,
  recording: Recording,
  nowMs: number = recordedMs(recording) ?? Date.now(),
  measured?: MeasuredNetwork,
): NetworkCluster {
  const posterior = networkPosterior(recording, buildGraph(recording), { cluster: before, measured });
  if (before !== null && !isSameNetwork(before, posterior)) {
    return learnNetwork(null, recording, nowMs, measured);
  }
  return updateCluster(before, posterior, nowMs);
}

function recordedMs({ recordedAt }: Recording): number | null {
  const ms = Date.parse(recordedAt);
  return Number.isNaN(ms) || ms < 0 ? null : ms;
}
