import type { ComputeActivity, FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { documentOf } from './document.ts';

/** Origins of the redirects that the navigation followed to the document. */
export function redirectingOrigins(graph: PageGraph): Set<string> {
  return new Set(redirects(graph).map(({ origin }) => graph.origins[origin]!));
}

/**
 * The page at the address that the redirects of some origins lead to. Redirects of other origins stay. Each of
 * the others becomes a computation without a duration, which keeps the indices of activities.
 */
export function withoutRedirects(graph: PageGraph, origins: ReadonlySet<string>): PageGraph {
  const removed = new Set(
    redirects(graph)
      .filter(({ origin }) => origins.has(graph.origins[origin]!))
      .map(({ id }) => id),
  );
  return {
    ...graph,
    activities: graph.activities.map((activity) =>
      activity.kind === 'fetch' && removed.has(activity.id) ? asNothing(activity) : activity,
    ),
  };
}

/** The last one first. */
function redirects(graph: PageGraph): FetchActivity[] {
  const found: FetchActivity[] = [];
  for (let fetch = documentOf(graph); ; ) {
    const cause = fetch.after.find(({ kind }) => kind === 'redirect');
    const redirect = cause && graph.activities[cause.activity];
    if (redirect?.kind !== 'fetch') return found;
    found.push(redirect);
    fetch = redirect;
  }
}

const asNothing = ({ id, requestId, after }: FetchActivity): ComputeActivity => ({
  kind: 'compute',
  id,
  requestId,
  durationMs: 0,
  blocksLoad: true,
  after,
});
