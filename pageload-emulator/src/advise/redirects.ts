import type { ComputeActivity, FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { documentOf, type ServedPage } from './document.ts';

/** Origins of the redirects that the navigation followed to the document, and that a page can be served in place of. */
export function redirectingOrigins(page: ServedPage): Set<string> {
  return new Set(redirects(page).map(({ origin }) => page.graph.origins[origin]!));
}

/**
 * The page at the address that the redirects of some origins lead to. Redirects of other origins stay. Each of
 * the others becomes a computation without a duration, which keeps the indices of activities.
 */
export function withoutRedirects(page: ServedPage, origins: ReadonlySet<string>): PageGraph {
  const { graph } = page;
  const removed = new Set(
    redirects(page)
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

/**
 * The last one first. The answer to a form stays a redirect: a page in its place would be posted again when it is reloaded (RFC 9110,
 * section 15.4.4).
 */
function redirects({ graph, recording }: ServedPage): FetchActivity[] {
  const isForm = ({ requestId }: FetchActivity) =>
    recording.requests.some(({ id, method }) => id === requestId && method === 'POST');
  const found: FetchActivity[] = [];
  for (let fetch = documentOf(graph); ; ) {
    const cause = fetch.after.find(({ kind }) => kind === 'redirect');
    const redirect = cause && graph.activities[cause.activity];
    if (redirect?.kind !== 'fetch') return found;
    if (!isForm(redirect)) found.push(redirect);
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
