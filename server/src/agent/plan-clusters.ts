import { formatPrefix, type Prefix } from '../clusters/address.ts';
import type { ClusteredClient } from '../clusters/cluster-names.ts';

/** A cluster that is to have a window of its own. */
export interface PlannedCluster {
  name: string;
  prefix: Prefix;
  connections: number;
}

/**
 * The clusters that get a window: narrow ones with enough connections, wide ones where the others in them have enough together; of all
 * these the ones with the most connections.
 *
 * @param clients one of each narrow cluster
 * @param connectionsOf a narrow cluster of late
 */
export function planClusters(
  clients: Iterable<ClusteredClient>,
  connectionsOf: (cluster: string) => number,
  minConnections: number,
  maxRoutes: number,
): PlannedCluster[] {
  const planned: PlannedCluster[] = [];
  const wide = new Map<string, PlannedCluster>();
  for (const { narrow, wide: wideName, narrowPrefix, widePrefix } of clients) {
    const connections = connectionsOf(narrow);
    if (connections >= minConnections) {
      planned.push({ name: narrow, prefix: narrowPrefix, connections });
      continue;
    }
    const key = formatPrefix(widePrefix);
    const before = wide.get(key)?.connections ?? 0;
    wide.set(key, { name: wideName, prefix: widePrefix, connections: before + connections });
  }
  planned.push(...[...wide.values()].filter(({ connections }) => connections >= minConnections));
  return planned.sort((a, b) => b.connections - a.connections).slice(0, maxRoutes);
}
