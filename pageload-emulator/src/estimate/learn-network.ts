import type { MeasuredNetwork, Recording } from '@hopwise/contract';
import { buildGraph } from '../graph/build-graph.ts';
import { networkPosterior } from './build-posterior.ts';
import { isSameNetwork, type NetworkCluster, updateCluster } from './network-cluster.ts';

/**
 * A network's cluster after another recorded load. One that cannot be of the same network begins a new cluster, whose `loads` is 1.
 *
 * @param before its cluster; null for the first load
 * @param nowMs milliseconds since the epoch; when the recording began if it says, else the present
 * @param measured what transfers beside the load showed
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
