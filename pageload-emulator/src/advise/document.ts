import type { Recording } from '@hopwise/contract';
import { PARSER_MS } from '../graph/build-graph.ts';
import type { Dependency, FetchActivity, PageGraph } from '../graph/page-graph.ts';

/** A page as it is served today. */
export interface ServedPage {
  recording: Recording;
  graph: PageGraph;
  /** What gzip makes of responses whose bodies are known, bytes by URL. */
  gzipBytes?: ReadonlyMap<string, number>;
}

/** The fetch of the page itself, after redirects. */
export function documentOf({ activities, url }: PageGraph): FetchActivity {
  const fetches = activities.filter((activity) => activity.kind === 'fetch');
  return fetches.find((fetch) => fetch.url === url) ?? fetches[0]!;
}

/** The origin that the page itself came from, after redirects. */
export const documentOrigin = (graph: PageGraph): string => graph.origins[documentOf(graph).origin]!;

/** When the browser follows what stands first in the document's head: with the first part of it that the parser found anything in. */
export function atHead(graph: PageGraph): { dependency: Dependency; delayMs: number } {
  const { id } = documentOf(graph);
  const fractions = graph.activities.flatMap(({ after }) =>
    after
      .filter(({ activity, kind }) => activity === id && kind === 'parser')
      .map(({ fraction }) => fraction),
  );
  return {
    dependency: { activity: id, kind: 'parser', fraction: Math.min(1, ...fractions), source: 'inferred' },
    delayMs: PARSER_MS,
  };
}
