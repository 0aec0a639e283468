import type { PageGraph } from './page-graph.ts';

/** Sums up the requests of each origin and the bytes of their responses, in order of `graph.origins`. */
export function sumByOrigin(graph: PageGraph): Map<string, { requests: number; bytes: number }> {
  const sums = new Map(graph.origins.map((origin) => [origin, { requests: 0, bytes: 0 }]));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const sum = sums.get(graph.origins[activity.origin]!)!;
    sum.requests++;
    sum.bytes += activity.responseBytes;
  }
  return sums;
}
