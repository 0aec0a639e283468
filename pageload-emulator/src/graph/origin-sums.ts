import type { PageGraph } from './page-graph.ts';

/** Requests of an origin and the bytes of their responses. */
export interface OriginSum {
  requests: number;
  bytes: number;
}

/** Sums up the requests of each origin, in order of `graph.origins`. */
export function sumByOrigin(graph: PageGraph): Map<string, OriginSum> {
  const sums = new Map(graph.origins.map((origin) => [origin, { requests: 0, bytes: 0 }]));
  for (const activity of graph.activities) {
    if (activity.kind !== 'fetch') continue;
    const sum = sums.get(graph.origins[activity.origin]!)!;
    sum.requests++;
    sum.bytes += activity.responseBytes;
  }
  return sums;
}
