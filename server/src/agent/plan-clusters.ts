import type { ClusteredClient } from '../clusters/cluster-names.ts';

/** A cluster that is to have a window of its own. */
interface PlannedCluster {
  name: string;
  prefix: string;
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
  const clusters = new Map<string, PlannedCluster>();
  for (const { narrow, wide, narrowPrefix, widePrefix } of clients) {
    const connections = connectionsOf(narrow);
    const isNarrow = connections >= minConnections;
    const [name, prefix] = isNarrow ? [narrow, narrowPrefix] : [wide, widePrefix];
    const before = clusters.get(name)?.connections ?? 0;
    clusters.set(name, { name, prefix, connections: before + connections });
  }
  return [...clusters.values()]
    .filter(({ connections }) => connections >= minConnections)
    .sort((a, b) => b.connections - a.connections)
    .slice(0, maxRoutes);
}
