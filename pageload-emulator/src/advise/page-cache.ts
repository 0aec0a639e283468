import type { PageGraph } from '../graph/page-graph.ts';
import { documentOf } from './document.ts';

/** A cache in front of an application answers within this time. Assumed. */
const CACHED_MS = 5;
/** A page that its server makes sooner needs no cache. Assumed. */
const MIN_THINK_MS = 50;

/** Whether the server takes so long for the document that a cache would help. */
export const isMadeSlowly = (graph: PageGraph): boolean => (documentOf(graph).thinkMs ?? 0) >= MIN_THINK_MS;

/** The page with its document from a cache. */
export function withCachedDocument(graph: PageGraph): PageGraph {
  const { id } = documentOf(graph);
  return {
    ...graph,
    activities: graph.activities.map((activity) =>
      activity.id === id ? { ...activity, thinkMs: CACHED_MS, bodyMs: 0 } : activity,
    ),
  };
}
