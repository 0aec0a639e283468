import type { Recording } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';

/** A page as it is served today. */
export interface ServedPage {
  recording: Recording;
  graph: PageGraph;
  /** What gzip makes of responses whose bodies are known, bytes by URL. */
  gzipBytes?: ReadonlyMap<string, number>;
}
