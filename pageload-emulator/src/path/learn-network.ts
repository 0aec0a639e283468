import { buildGraph } from '../graph/build-graph.ts';
import type { Recording } from '../recording/recording.ts';
import { type NetworkCluster, updateCluster } from './network-cluster.ts';
import { networkPosterior } from './posterior.ts';

/**
 * A network's cluster after another recorded load of it.
 *
 * @param before its cluster; null for the first load
 * @param nowMs milliseconds since the epoch; when the recording began if it says, else the present
 */
export function learnNetwork(
  before: NetworkCluster | null,
  recording: Recording,
  nowMs: number = recordedMs(recording) ?? Date.now(),
): NetworkCluster {
  const posterior = networkPosterior(recording, buildGraph(recording), { cluster: before });
  return updateCluster(before, posterior, nowMs);
}

function recordedMs({ recordedAt }: Recording): number | null {
  const ms = Date.parse(recordedAt);
  return Number.isNaN(ms) || ms < 0 ? null : ms;
}
